"""Bugs against the adapters of LangGraph and LangChain.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead, one for each
row of `tests/manifest_adapters.py`; and `BUGS`, each with its test as well.
"""

from __future__ import annotations

TRAPS = "tests/traps/test_adapters.py"
OTHERS = "tests/adapters/test_langchain.py"

MEANING = (
    (
        "redirects change the name only",
        "adapters/langgraph/gate.py",
        "return Ruling(asking, outcome, tool, instead[0])",
        "return Ruling(asking, outcome, asking.tool, asking.raw)",
    ),
    (
        "plain runs are not decided",
        "adapters/langgraph/node.py",
        "return drive(self._flow(state, config, runtime, later=False))",
        "return self._inner.invoke(state, config)",
    ),
    (
        "refused calls are let through",
        "adapters/langgraph/gate.py",
        "return Ruling(asking, outcome, told=outcome.advice)",
        "return Ruling(asking, outcome, asking.tool, asking.raw)",
    ),
    (
        "a question is an error",
        "adapters/langgraph/gate.py",
        "            said = yield Run(interrupt, (",
        (
            "            try:\n"
            "                interrupt(shown)\n"
            "            except Exception:\n"
            "                break\n"
            "            said = yield Run(interrupt, ("
        ),
    ),
    (
        "any answer will do",
        "adapters/langgraph/gate.py",
        (
            "        if isinstance(each.said, Mapping) and id in each.said:\n"
            "            heard.append(each.said[id])\n"
            "            problem = answer(session, id, each.said[id])\n"
        ),
        (
            "        if isinstance(each.said, Mapping) and each.said:\n"
            "            heard.append(next(iter(each.said.values())))\n"
            "            problem = answer(session, id, heard[-1])\n"
        ),
    ),
    (
        "parallel calls are no tasks",
        "adapters/langgraph/node.py",
        'waiting = [begin(each, f"{self._name}.call") for each in doing]',
        (
            "Later = __import__('types').SimpleNamespace\n"
            "        waiting = [Later(result=lambda e=e: {CHANNEL: e()}) for e in doing]"
        ),
    ),
    (
        "calls need no ids",
        "adapters/langgraph/asking.py",
        "if not isinstance(id, str) or not id:",
        "if id == 0:",
    ),
    (
        "tools see no state",
        "adapters/langgraph/node.py",
        '            "state": state,\n',
        '            "state": {"messages": []},\n',
    ),
    (
        "a thread has one session for ever",
        "adapters/langgraph/sessions.py",
        "return begun(self.guard, place.thread, self._given)",
        (
            "return self.live._sessions.setdefault("
            'f"of {place.thread}", begun(self.guard, place.thread, self._given))'
        ),
    ),
    (
        "what hooks raise is ignored",
        "adapters/langgraph/gate.py",
        "            self.begin(session)\n",
        (
            "            try:\n"
            "                self.begin(session)\n"
            "            except Exception:\n"
            "                pass\n"
        ),
    ),
)

BUGS = (
    (
        "calls of a batch see one snapshot",
        "adapters/langgraph/gate.py",
        "            for call in calls:\n                ruling = self.ruling(session, call)\n",
        "            for call in calls:\n                ruling = self.ruling(self.open(), call)\n",
        f"{TRAPS}::test_parallel_calls_do_not_share_a_snapshot",
    ),
    (
        "all threads of an agent are one",
        "adapters/langgraph/sessions.py",
        "return begun(self.guard, place.thread, self._given)",
        (
            "return self.live._sessions.setdefault("
            '"all", begun(self.guard, place.thread, self._given))'
        ),
        f"{TRAPS}::test_threads_of_an_agent_do_not_share_a_history",
    ),
    (
        "no thread is a thread",
        "adapters/langgraph/sessions.py",
        "        elif place.thread is None:\n",
        "        elif place.thread == 0:\n",
        f"{TRAPS}::test_an_agent_without_a_thread_does_not_count",
    ),
    (
        "edits are what was decided",
        "adapters/langchain/calls.py",
        'if way.ran == 1 and mark and way.ruling["mark"] == mark:',
        "if way.ran == 1:",
        f"{OTHERS}::test_an_edit_that_breaks_a_contract_is_refused",
    ),
    (
        "attempts are not decided",
        "adapters/langchain/calls.py",
        'if way.ran == 1 and mark and way.ruling["mark"] == mark:',
        'if mark and way.ruling["mark"] == mark:',
        f"{OTHERS}::test_every_attempt_is_decided",
    ),
    (
        "the model's word counts for the result",
        "adapters/langchain/calls.py",
        "        if not way.entries:  # another middleware has answered\n",
        "        way.entries.clear()\n        if not way.entries:\n",
        f"{OTHERS}::test_an_error_that_is_told_as_a_result_is_still_a_failure",
    ),
    (
        "any tool has the name",
        "adapters/langchain/calls.py",
        "return request if request.tool is own else request.override(tool=own)",
        "return request",
        f"{OTHERS}::test_only_the_tool_of_the_name_runs",
    ),
    (
        "withheld answers are said",
        "adapters/langchain/turns.py",
        "            instead = _withheld(asking)\n",
        "            instead = asking\n",
        "tests/adapters/test_answers.py::test_an_answer_that_is_forbidden_is_withheld",
    ),
    (
        "facts are told at every batch",
        "adapters/langgraph/hearing.py",
        "if not _known(session._inner.context, key, value):",
        "if key:",
        "tests/adapters/test_opening.py::test_an_approval_that_is_told_again_gets_no_younger",
    ),
)
