"""Bugs against the adapters of LangGraph and LangChain.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead, one for each
row of `tests/semantics/manifest_adapters.py`; and `BUGS`, each with its test as well.
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
        (
            "self._going(given, config)\n"
            "        if isinstance(going, Command):\n"
            "            return going\n"
            "        output = yield Run(self.inner.ainvoke if later else self.inner.invoke, (going,"
        ),
        (
            "given\n"
            "        plain = ToolNode(list(self.inner.tools_by_name.values()))\n"
            "        output = yield Run(plain.ainvoke if later else plain.invoke, (going,"
        ),
    ),
    (
        "refused calls are let through",
        "adapters/langgraph/gate.py",
        "Blocked():\n                return Ruling(asking, outcome)\n",
        "Blocked():\n                return Ruling(asking, outcome, asking.tool, asking.raw)\n",
    ),
    (
        "a question is an error",
        "adapters/langgraph/decision_node.py",
        '            said, rev = interrupt(shown), sessions.kept_in(config)["rev"]\n',
        (
            "            try:\n"
            "                said = interrupt(shown)\n"
            "            except Exception:\n"
            "                return Command(goto='__end__')\n"
            '            rev = sessions.kept_in(config)["rev"]\n'
        ),
    ),
    (
        "any answer will do",
        "adapters/langgraph/people.py",
        (
            "        if isinstance(each.said, Mapping) and id in each.said:\n"
            "            given, other = _edited(tools, call, each.said[id])\n"
        ),
        (
            "        if isinstance(each.said, Mapping) and each.said:\n"
            "            given, other = _edited(tools, call, next(iter(each.said.values())))\n"
        ),
    ),
    (
        "parallel calls are no tasks",
        "adapters/langgraph/decision_node.py",
        "return [*(Send(self.name, each) for each in sent), *self.exits.idle]",
        "return [*(Send(self.name, each) for each in (*sent, *sent[1:])), *self.exits.idle]",
    ),
    (
        "calls need no ids",
        "adapters/langgraph/asked_calls.py",
        "if not isinstance(id, str) or not id:",
        "if id == 0:",
    ),
    (
        "tools see no state",
        "adapters/langgraph/node.py",
        '"tool_call": call, "state": state}',
        '"tool_call": call, "state": {"messages": []}}',
    ),
    (
        "a thread has one session for ever",
        "adapters/langgraph/sessions.py",
        'if "rev" not in kept:\n            return begun(self.guard, place.thread, self._given)',
        (
            'if "rev" not in kept or True:\n            return self.live._sessions.setdefault('
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
        "ruling = self.ruling(session, self._as_asked(call, asked))\n",
        "ruling = self.ruling(self.open(), self._as_asked(call, asked))\n",
        f"{TRAPS}::test_parallel_calls_do_not_share_a_snapshot",
    ),
    (
        "a tool receives what the model wrote",
        "adapters/langgraph/attempts.py",
        'passing(call, self.ruling["raw"])',
        "call",
        "tests/adapters/test_json_schemas.py::test_the_tool_receives_what_was_decided",
    ),
    (
        "what a validation makes later is not decided",
        "adapters/langgraph/proxy.py",
        "if not any(now and was and now != was for now, was in pairs):",
        "if not any(now and was and not now for now, was in pairs):",
        (
            "tests/adapters/test_tool_schemas.py"
            "::test_what_a_validation_makes_of_a_call_later_is_decided"
        ),
    ),
    (
        "all threads of an agent are one",
        "adapters/langgraph/sessions.py",
        'if "rev" not in kept:\n            return begun(self.guard, place.thread, self._given)',
        (
            'if "rev" not in kept or True:\n            return self.live._sessions.setdefault('
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
        "adapters/langgraph/attempts.py",
        "if self.ran == 1 and self._is_as_decided(tool, raw):",
        "if self.ran == 1:",
        f"{OTHERS}::test_an_edit_that_breaks_a_contract_is_refused",
    ),
    (
        "attempts are not decided",
        "adapters/langgraph/attempts.py",
        "if self.ran == 1 and self._is_as_decided(tool, raw):",
        "if self._is_as_decided(tool, raw):",
        f"{OTHERS}::test_every_attempt_is_decided",
    ),
    (
        "the model's word counts for the result",
        "adapters/langgraph/attempts.py",
        '                self.came(self.decided["id"], {"error": error_text(error)})\n',
        "",
        f"{OTHERS}::test_an_error_that_is_told_as_a_result_is_still_a_failure",
    ),
    (
        "any tool has the name",
        "adapters/langgraph/attempts.py",
        'if tool.name != decided["tool"] or not decided["mark"]:',
        'if not decided["mark"]:',
        f"{OTHERS}::test_only_the_tool_of_the_name_runs",
    ),
    (
        "a state that has changed is not decided",
        "adapters/langgraph/guarded_node.py",
        'if running.ran == 1 and call.mark and call.mark == running.ruling.get("mark"):',
        "if running.ran == 1:",
        (
            "tests/adapters/test_changed_state.py"
            "::test_what_another_node_has_written_meanwhile_is_decided"
        ),
    ),
    (
        "two tasks of a session write its parts at the same time",
        "adapters/langgraph/sessions.py",
        "with known.lock:",
        "if known.lock:",
        (
            "tests/adapters/test_written_beside.py"
            "::test_what_two_tasks_have_decided_is_kept[turned-saved]"
        ),
    ),
    (
        "nodes beside guarded ones lead on before their calls",
        "adapters/langgraph/routes.py",
        "return None if beside else Command(goto=self._entry(end))",
        "return Command(goto=self._entry(end))",
        ("tests/adapters/test_joined.py::test_the_model_is_called_when_people_have_answered"),
    ),
    (
        "a command that leads to a guarded node is not noted",
        "adapters/langgraph/decision_node.py",
        "Command(update={CHANNEL: sessions.wrote(begun)}, goto=goto)",
        "Command(goto=goto)",
        ("tests/adapters/test_joined.py::test_the_model_is_called_when_people_have_answered"),
    ),
    (
        "nodes without edges are taken to lead nowhere",
        "adapters/langgraph/routes.py",
        "spec.ends or (() if name in bound else old.nodes)",
        "spec.ends or ()",
        ("tests/adapters/test_joined.py::test_the_model_is_called_when_all_are_refused"),
    ),
    (
        "deferred nodes do not wait for calls",
        "adapters/langgraph/decision_node.py",
        "return [*(Send(self.name, each) for each in sent), *self.exits.idle]",
        "return [Send(self.name, each) for each in sent]",
        "tests/adapters/test_deferred.py::test_a_deferred_node_waits_for_the_calls",
    ),
    (
        "what a command sends beside a held call runs",
        "adapters/langgraph/decision_node.py",
        'return any(each != of and each.startswith(group) for each in kept.get("asked", {}))',
        "return False",
        (
            "tests/adapters/test_sent_alone.py"
            "::test_nothing_that_is_sent_runs_before_people_have_answered"
        ),
    ),
    (
        "of two answers at once one is good",
        "adapters/langgraph/live.py",
        "if holder not in mine or id in spent:",
        "if holder != mine[0] or id in spent:",
        "tests/adapters/test_sent_alone.py::test_each_call_that_is_sent_and_held_is_answered",
    ),
    (
        "what is sent is not what runs",
        "adapters/langgraph/guarded_node.py",
        'if "given" not in given:',
        "if given:",
        "tests/adapters/test_sent_alone.py::test_a_guarded_node_runs_on_what_it_was_sent",
    ),
    (
        "what is sent beside a held call runs",
        "adapters/langgraph/routes.py",
        "return [*led, *(to_decide(decides(name), args) for name, args in sent.items())]",
        "return [*led, *(to_decide(decides(n), [a]) for n, args in sent.items() for a in args)]",
        "tests/adapters/test_sent_alone.py::test_what_an_edge_sends_is_one_question",
    ),
    (
        "calls beside a held one count when people are asked",
        "adapters/langgraph/gate.py",
        "            if not (batch.held and self.waits):\n                keep()\n",
        "            keep()\n",
        (
            "tests/adapters/test_leases.py"
            "::test_a_call_beside_one_that_people_are_asked_about_counts_once"
        ),
    ),
    (
        "an answer is good for every run that was given it",
        "adapters/langgraph/leases.py",
        "if decided.get(self.decided, self.rev) != self.rev:",
        "if self.rev == 0:",
        (
            "tests/adapters/test_leases.py"
            "::test_what_was_decided_once_belongs_to_the_run_that_begins"
        ),
    ),
    (
        "two processes run one step",
        "adapters/langgraph/leases.py",
        "if process != world.process() and world.lives(process):",
        "if process == 0:",
        "tests/adapters/test_leases.py::test_a_call_is_run_by_one_process_at_a_time",
    ),
    (
        "what was done inside of a call is forgotten with its process",
        "adapters/langgraph/pending_writes.py",
        'while mine := [pair for pair in parts if pair[1].get("outer") in names]:',
        'while mine := [pair for pair in parts if pair[1].get("outer") is names]:',
        "tests/adapters/test_killed.py::test_what_a_sub_agent_has_done_is_found_by_another_process",
    ),
    (
        "a call that is sent twice runs twice",
        "adapters/langgraph/decision_node.py",
        "if call.problem or self.sessions.live.decides(gate.own(call.own), checkpoint, task):",
        "if True:",
        "tests/adapters/test_sent_twice.py::test_a_call_that_is_sent_twice_runs_once_at_most",
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
        "adapters/langgraph/messages.py",
        "if not _known(session._inner.context, key, value):",
        "if key:",
        "tests/adapters/test_opening.py::test_an_approval_that_is_told_again_gets_no_younger",
    ),
    (
        "of two guards one is asked before a body runs",
        "adapters/langgraph/proxy.py",
        "    if any(each is checks for each, _ in _around(tool)):\n",
        "    if id(tool) in _CHECKS:\n",
        "tests/adapters/test_stacked.py::test_what_another_middleware_edits_is_decided_by_both",
    ),
    (
        "of two guards one hears what a body returns",
        "adapters/langgraph/proxy.py",
        "    if known is None or known[2] is not tool:",
        "    if True:",
        "tests/adapters/test_stacked.py::test_both_read_what_a_tool_returns",
    ),
    (
        "a sub-agent is under the innermost guard alone",
        "session/active.py",
        "    while here is not None and not ours(here.session):\n        here = here.around\n",
        "    if here is not None and not ours(here.session):\n        here = None\n",
        "tests/adapters/test_stacked.py::test_a_sub_agent_is_under_the_guard_that_it_has",
    ),
    (
        "a graph in the middle need not share",
        "adapters/langgraph/sessions.py",
        'kept.get("around", 0) < place.depth',
        'kept.get("around", 0) < min(place.depth, 1)',
        "tests/adapters/test_nested_runs.py::test_every_graph_around_has_to_share",
    ),
    (
        "sub-agents that a tool holds need no guard",
        "adapters/langchain/middleware.py",
        "        if not named:\n",
        "        if named:\n",
        "tests/adapters/test_nested_runs.py::test_a_sub_agent_that_a_tool_holds_needs_a_guard",
    ),
    (
        "what a tool hands back of a graph inside is dropped",
        "adapters/langgraph/calls.py",
        "CHANNEL: {**inner, **value}",
        "CHANNEL: value",
        "tests/adapters/test_nested_runs.py::test_a_tool_may_hand_back_the_channel",
    ),
    (
        "runs in one step share a session",
        "adapters/langgraph/sessions.py",
        'run = "" if self.shared else place.run',
        'run = ""',
        "tests/adapters/test_nested_runs.py::test_two_runs_in_one_step_have_a_session_each",
    ),
    (
        "a second call has a second memory",
        "adapters/langgraph/node_context.py",
        "    if place.run != place.called:\n",
        "    if not place.run:\n",
        "tests/adapters/test_nested_runs.py::test_a_second_call_by_one_node_is_refused",
    ),
    (
        "two runs in one place overwrite each other",
        "adapters/langgraph/node_context.py",
        "    if _FORKS and _is_beside(",
        "    if not _FORKS and _is_beside(",
        "tests/adapters/test_nested_runs.py::test_two_runs_in_one_place_are_refused",
    ),
    (
        "the world holds nothing inside of another graph",
        "adapters/langgraph/sessions.py",
        "each not in policy.world]",
        "each]",
        "tests/adapters/test_nested_runs.py::test_a_contract_on_the_world_holds_inside",
    ),
    (
        "guards are told by the names of their contracts",
        "adapters/langgraph/channel.py",
        "    said = sorted(guard.policy.fingerprints.items())\n",
        "    said = sorted(guard.policy.fingerprints)\n",
        "tests/adapters/test_parts.py::test_two_nodes_whose_contracts_have_one_name_hold_both",
    ),
    (
        "what an older release has decided since is not followed",
        "adapters/langgraph/channel.py",
        '        on = whole.get(at, {}).get("on", at)\n',
        "        on = at\n",
        "tests/adapters/test_parts.py::test_two_releases_that_serve_a_thread_in_turn_count_together",
    ),
    (
        "runs within one step share a session",
        "adapters/langgraph/sessions.py",
        '        run = "" if self.shared else place.run',
        '        run = ""',
        "tests/adapters/test_parts.py::test_a_check_of_one_run_does_not_open_a_payment_of_another",
    ),
    (
        "what is not saved yet is not known",
        "adapters/langgraph/node_context.py",
        "    if stand.around is not None or stand.place.thread is None",
        "    if stand.sessions is not None or stand.place.thread is None",
        "tests/adapters/test_unsaved.py::test_so_it_is_with_a_file",
    ),
    (
        "a run that the store has caught up with is a replay",
        "adapters/langgraph/node_context.py",
        "    return any(forks) and any(knows)\n",
        "    return any(knows)\n",
        "tests/adapters/test_unsaved.py::test_it_is_no_replay_when_the_store_knows_by_then",
    ),
    (
        "nobody goes back on purpose",
        "adapters/langgraph/node_context.py",
        "    return any(forks) and any(knows)\n",
        "    return False\n",
        "tests/adapters/test_unsaved.py::test_a_replay_goes_on_from_its_checkpoint",
    ),
    (
        "a fork that nobody names is no fork",
        "adapters/langgraph/node_context.py",
        '_FORKED = frozenset({"update", "fork"})',
        "_FORKED = frozenset[str]()",
        "tests/adapters/test_unsaved.py::test_a_fork_goes_on_from_its_checkpoint",
    ),
    (
        "calls that run are ended by the next run",
        "adapters/langgraph/sessions.py",
        "                for id in set(_left(out.session, place, batch)) - runs:\n",
        "                for id in _left(out.session, place, batch):\n",
        "tests/adapters/test_unsaved.py::test_runs_of_one_thread_at_once_share_what_may_be_done",
    ),
    (
        "a cache serves all threads",
        "adapters/langgraph/decision_node.py",
        'where = f"{place.thread} {place.run}" if place.thread is not None else place.step',
        'where = ""',
        (
            "tests/adapters/test_caches.py::"
            "test_a_cache_of_the_model_gives_nobody_the_result_of_another"
        ),
    ),
    (
        "decisions are cached",
        "adapters/langgraph/routes.py",
        "                graph.nodes[each].cache_policy = None",
        "                graph.nodes[each].tags += []",
        "tests/adapters/test_caches.py::test_a_default_cache_of_a_graph_decides_nothing",
    ),
    (
        "messages without ids have no name",
        "adapters/langgraph/asked_calls.py",
        "    if asking is None or asking.id:\n",
        "    if asking is None or asking:\n",
        "tests/adapters/test_caches.py::test_an_approval_reaches_a_message_without_an_id",
    ),
    (
        "what the last of two pairs refuses is decided by the other",
        "adapters/langchain/turns.py",
        "        mine = [each for each in calls if each.id not in never]\n",
        "        mine = calls\n",
        (
            "tests/adapters/test_stacked.py::"
            "test_what_the_last_pair_refuses_does_not_count_with_the_other"
        ),
    ),
)
