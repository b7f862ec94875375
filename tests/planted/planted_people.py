"""Bugs against what strategies, tickets, notifiers, decorated tools and trajectories mean.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_people.py`.
"""

from __future__ import annotations

STRATEGIES = (
    (
        "patterns know better than contracts",
        "engine/policy.py",
        "self.contracts[k].answer or one.rule.answer or Block() for",
        "one.rule.answer or self.contracts[k].answer or Block() for",
    ),
    (
        "no argument is dropped",
        "engine/findings.py",
        "        if names.get(key, key) is not None\n",
        "",
    ),
    (
        "responses are redirected",
        "session/decide.py",
        "            case Redirect() as answer, Call():\n",
        (
            "            case Redirect(), Message():\n"
            "                return allowed(first.found), first\n"
            "            case Redirect() as answer, Call():\n"
        ),
    ),
    (
        "held calls run",
        "session/interceptor.py",
        "if answers is not None:",
        "if answers is not None and not isinstance(answers, Escalate):",
    ),
    (
        "callables are asked again and again",
        "session/decide.py",
        "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)",
        (
            "ruling(ask, finding.violation, event)\n            "
            "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)"
        ),
    ),
    (
        "what is no answer asks people",
        "session/decide.py",
        "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)",
        (
            "answer = ruling(ask, finding.violation, event)\n"
            "            rulings[finding.violation.contract] = "
            "answer if isinstance(answer, Redirect) else Escalate()"
        ),
    ),
    (
        "nobody is asked about results",
        "session/notify.py",
        "                _run(decision, each)\n",
        "                pass\n",
    ),
    (
        "people are told what is only observed",
        "session/notify.py",
        'if each.mode != "enforce" or (going',
        "if (going",
    ),
    (
        "any address will do",
        "webhook.py",
        "for wrong in _mistakes(self.url, self.timeout, self.retries, self.headers):",
        "for wrong in ():",
    ),
    (
        "tools that do not exist confirm",
        "contracts/declaration.py",
        "if parameter.default.lacking(made, words):",
        "if False:",
    ),
    (
        "callables run under the lock",
        "session/decide.py",
        "            rulings[finding.violation.contract] = ruling(ask, finding.violation, event)\n",
        (
            "            with inner._lock:\n                "
            "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)\n"
        ),
    ),
    (
        "whatever goes wrong is allowed",
        "session/decide.py",
        "    if not inner.policy.enforces:\n",
        "    if True:\n",
    ),
)

TICKETS = (
    (
        "any call has the ticket",
        "session/tickets.py",
        "if ticket.mark != mark:",
        "if not ticket.mark:",
    ),
    (
        "made ids are ids",
        "session/tickets.py",
        "(_is_made(ticket.call) and _is_made(call))",
        "False",
    ),
    (
        "what cannot be read is approved",
        "session/decide.py",
        "    if mark.startswith(UNLIKE):\n",
        "    if not mark:\n",
    ),
    (
        "any role may answer",
        "event_types.py",
        "return not self.roles or role in self.roles",
        "return True",
    ),
    (
        "one yes is enough",
        "session/tickets.py",
        "if all(each.by for each in asked)",
        "if any(each.by for each in asked)",
    ),
    (
        "answers can be changed",
        "session/tickets.py",
        'raise SessionError(f"ticket `{id}` is {ticket.status}; it cannot be answered")',
        "return ticket",
    ),
    (
        "a no is forgotten",
        "session/tickets.py",
        "if ticket.mark != mark:",
        'if ticket.mark != mark or ticket.status == "denied":',
    ),
    (
        "nothing is revoked",
        "session/tickets.py",
        'return self._keep(replace(ticket, status="revoked", by=by))',
        "return ticket",
    ),
    (
        "the longest time counts",
        "session/decide.py",
        "within = min(limits, default=None)",
        "within = max(limits, default=None)",
    ),
    (
        "an approval answers everybody",
        "session/interceptor.py",
        "left = found if substitute else left_to_answer(found, ticket)",
        "left = found if substitute or not ticket else ()",
    ),
    (
        "who asks later asks alone",
        "session/tickets.py",
        "asked=(*kept, *more), status",
        "asked=tuple(more), status",
    ),
    (
        "what comes late to a held call is left out",
        "session/tickets.py",
        "news = violated - known.told",
        "news: frozenset[str] = frozenset()",
    ),
    (
        "roles are asked once",
        "engine/findings.py",
        "if asked in answered}",
        "if asked[0] in dict(answered)}",
    ),
    (
        "all ids of tickets are made at random",
        "session/tickets.py",
        "if not call or _is_made(call):",
        "if session or call:",
    ),
    (
        "the time to answer begins anew",
        "session/tickets.py",
        "sooner = min(ticket.until, at + ticket.within)",
        "sooner = ticket.until",
    ),
    (
        "an approval is good for ever",
        "session/interceptor.py",
        "        self.tickets.use(ticket)\n",
        "",
    ),
    (
        "an approval is good for the substitute",
        "session/interceptor.py",
        "left = found if substitute else left_to_answer(found, ticket)",
        "left = left_to_answer(found, ticket)",
    ),
    (
        "all responses are the same",
        "session/flights.py",
        'return digest("response", {"text": event.text})',
        'return digest("response", {})',
    ),
    (
        "answers outlive their questions",
        "session/resume.py",
        "asked.contract not in anew and still_asks(inner.policy, asked)",
        "asked.contract not in anew",
    ),
    (
        "tickets are not capped",
        "session/tickets.py",
        "if len(self.by_id) < TICKETS_CAP:",
        "if self.tickets is not None:",
    ),
    (
        "answers are not logged",
        "session/session.py",
        "        self._log.ticket(self.id, answered)\n",
        "",
    ),
)

NOTIFIERS = (
    (
        "the guard tells nobody",
        "session/notify.py",
        "dict.fromkeys((*own, *self.everyone))",
        "dict.fromkeys(own)",
    ),
    (
        "notices have no ticket",
        "session/notify.py",
        "                notice = replace(notice, ticket=ticket.id, roles=ticket.roles)\n",
        "                pass\n",
    ),
    (
        "a held call is told again",
        "session/tickets.py",
        "news = violated - known.told",
        "news = violated",
    ),
    (
        "notifiers run at once",
        "notices.py",
        "        if self._outbox.put(notice):\n",
        "        if not self.notifier(notice):\n",
    ),
    (
        "notifiers run under a lock",
        "notices.py",
        "        if self._outbox.put(notice):\n",
        (
            "        with self._outbox._lock:\n"
            "            self.notifier(notice)\n"
            "        if notice:\n"
        ),
    ),
    (
        "who has failed is not told again",
        "notices.py",
        '_logger().exception("notifier %s failed", self.name)',
        '_logger().exception("notifier %s failed", self.name)\n            self.notifier = print',
    ),
    (
        "coroutines are left",
        "notices.py",
        "asyncio.run(_awaited(answer))",
        "asyncio.iscoroutine(answer) and answer.close()",
    ),
    (
        "the latest notice comes first",
        "outbox.py",
        "self._waiting.append(thing)",
        "self._waiting.insert(min(1, len(self._waiting)), thing)",
    ),
    (
        "mailboxes are not capped",
        "outbox.py",
        "if many > self._cap:",
        "if not self.name:",
    ),
    (
        "nothing is tried again",
        "webhook.py",
        "passing = answer.is_server_error or answer.status_code == BUSY",
        "passing = False",
    ),
    (
        "the end is told to nobody",
        "session/notify.py",
        'self._reported(owed, replace(self._about(owed, ""), action="unfulfilled"))',
        "_run",
    ),
    (
        "errors have the address",
        "webhook.py",
        "host = urlsplit(self.url).hostname",
        "host = self.url",
    ),
)

TOOLS = (
    (
        "results are not told",
        "guard/flow.py",
        "        session.settle(id, output=answer)\n",
        "        pass\n",
    ),
    (
        "defaults are not filled in",
        "guard/arguments.py",
        (
            "        bound.apply_defaults()\n        named = bound.arguments\n"
            "        return BoundCall(bound.args"
        ),
        "        named = bound.arguments\n        return BoundCall(bound.args",
    ),
    (
        "the body receives what was given",
        "guard/tools.py",
        "run = Run(self.function, bound.args, bound.kwargs, self.answer)",
        "run = Run(self.function, args, kwargs, self.answer)",
    ),
    (
        "what does not fit is passed on",
        "guard/arguments.py",
        "bound.arguments[name] = self._coerced(name, value)",
        "bound.arguments[name] = self._if_it_can(name, value)",
    ),
    (
        "observers change arguments",
        "guard/arguments.py",
        "return BoundCall(args, kwargs, ",
        "return BoundCall(bound.args, bound.kwargs, ",
    ),
    (
        "what is the host's is never read",
        "guard/arguments.py",
        "read = written_data(value) if hosts else as_data(value, room)",
        "read = UNREADABLE if hosts else as_data(value, room)",
    ),
    (
        "what cannot be read is nothing",
        "values/plain.py",
        (
            "    except Exception:  # a value of the host's own making may raise when it is read\n"
            "        return UNREADABLE\n"
        ),
        "    except Exception:\n        return 0\n",
    ),
    (
        "a blocked call has no answer",
        "guard/flow.py",
        'return outcome.advice if on_block == "return"',
        'return None if on_block == "return"',
    ),
    (
        "a held call has no answer",
        "guard/flow.py",
        "                return outcome.ticket\n",
        "                return None\n",
    ),
    (
        "a call waits once",
        "guard/flow.py",
        'while isinstance(outcome, Held) and on_hold == "wait":',
        'if isinstance(outcome, Held) and on_hold == "wait":',
    ),
    (
        "the tool is its own substitute",
        "guard/tools.py",
        "run = Run(tool.function, ",
        "run = Run(self.function, ",
    ),
    (
        "substitutes that cannot run raise",
        "guard/flow.py",
        "    except Exception as error:  # there is none",
        "    except ValueError as error:  # there is none",
    ),
    (
        "what has failed is done",
        "guard/flow.py",
        (
            "        output = yield run\n    except BaseException as error:\n"
            "        session.settle(id, error="
        ),
        (
            "        output = yield run\n    except BaseException as error:\n"
            "        session.settle(id, output="
        ),
    ),
    (
        "what is awaited has no result",
        "guard/flow.py",
        "if isinstance(step, Run) and inspect.isawaitable(result) and not _is_task(result):",
        "if isinstance(step, WaitForAnswer) and inspect.isawaitable(result):",
    ),
    (
        "the active session comes first",
        "guard/tools.py",
        "here = caller_under(policy) if self.session is None else caller_in(self.session)",
        "here = caller_under(policy) or caller_in(self.session)",
    ),
    (
        "without a session tools run",
        "guard/tools.py",
        "        if policy.enforces:\n            raise",
        "        if not policy:\n            raise",
    ),
    (
        "names are taken twice",
        "guard/toolbox.py",
        "if entry.home != home or not _same(same_name, tool):",
        "if entry.home is None:",
    ),
    (
        "wrapped tools keep their names",
        "guard/guard.py",
        "decorated(box, each, ToolOptions(name=name, **options), batch)",
        "decorated(box, each, Options(**options), batch)",
    ),
    (
        "blocks have no result",
        "loops.py",
        "    session.settle(call.id, output=as_answer(call.output))\n",
        "",
    ),
    (
        "answers are shown first",
        "loops.py",
        'outcome = session.message("assistant", text)',
        'outcome = session.message("shown", text)',
    ),
    (
        "any tool of the name is a substitute",
        "guard/toolbox.py",
        "entry.only = tool if entry.only and _same(entry.only, tool) else None",
        "entry.only = tool",
    ),
    (
        "all calls are made by the same agent",
        "session/active.py",
        "return agent, 0 if self.depth is None else self.depth",
        'return "agent", 0 if self.depth is None else self.depth',
    ),
    (
        "secrets are masked",
        "values/plain.py",
        "return value.get_secret_value()",
        "return str(value)",
    ),
)

TRAJECTORIES = (
    (
        "flags that are not set are observed",
        "trajectory.py",
        "if getattr(self, each.name))",
        "if not getattr(self, each.name))",
    ),
    (
        "handoffs are checked at any time",
        "trajectory.py",
        'X(atom("coherence_check"))',
        'F(atom("coherence_check"))',
    ),
    (
        "the last violation is told",
        "trajectory.py",
        "self._violated_at.setdefault(name, self._steps)",
        "self._violated_at[name] = self._steps",
    ),
    (
        "the report is as good as the best",
        "trajectory.py",
        '"verdict": overall(set(found.values()))',
        '"verdict": max(found.values())',
    ),
    (
        "what is owed is forgiven",
        "trajectory.py",
        'broken = verdict == "violated" or name in owed',
        'broken = verdict == "violated" and name not in owed',
    ),
    (
        "reports have what was observed",
        "trajectory.py",
        "setdefault(name, self._steps)",
        "setdefault(name, sorted(step))",
    ),
    (
        "any formula can be watched",
        "trajectory.py",
        "        _of_steps(name, spec)\n",
        "        pass\n",
    ),
    (
        "monitors share their state",
        "trajectory.py",
        "self._violated_at: dict[str, int | None] = {}",
        'self._violated_at: dict[str, int | None] = vars(self._specs).setdefault("shared", {})',
    ),
)

TERMS = (
    (
        "the last value is that of then",
        "monitor/past.py",
        "v, x, s, p, t: kept(v[a]) if v[b] else s[r]",
        "v, x, s, p, t: kept(v[a]) if v[b] and s[r] is MISSING else s[r]",
    ),
    (
        "long texts are remembered",
        "monitor/past.py",
        "len(value) <= KEPT_CAP",
        "len(value) > 0",
    ),
    (
        "failures deliver nothing",
        "session/settle.py",
        "inner.context.arrived(flight.sources)",
        "inner.context.arrived(())",
    ),
    (
        "a fact is as old as when it was new",
        "events/context.py",
        "told_at={**self.told_at, key: time}",
        "told_at={key: time, **self.told_at}",
    ),
    (
        "an approval is as old as its telling",
        "events/context.py",
        '{"time": time, **value}',
        '{**value, "time": time}',
    ),
    (
        "what is missing has no mark",
        "events/atoms.py",
        (
            '"", [without_nulls(call.args)] if path == "*" else list(reach(call.args, path))\n'
            "        )\n"
        ),
        (
            '"", [without_nulls(call.args)] if path == "*" else list(reach(call.args, path))\n'
            '        ) if path == "*" or find(call.args, path) else MISSING\n'
        ),
    ),
    (
        "only totals are tokens",
        "events/context.py",
        "for keys in TOKENS)",
        "for keys in TOKENS[:1])",
    ),
    (
        "approvals may be of the future",
        "events/atoms.py",
        "since > now + SKEW_SECONDS",
        "since is None",
    ),
    (
        "marks see one shape",
        "events/atoms.py",
        "else list(reach(call.args, path))\n",
        "else find(call.args, path)\n",
    ),
)

TRAPS = (
    (
        "one review serves for ever",
        "patterns/agentic.py",
        "results.equals(Last(results, passed))",
        "results.equals(Last(results, passed)) | (Count(passed) > 0)",
    ),
    (
        "prefixes of servers do not count",
        "events/atoms.py",
        "return lambda call: everything or call.tool in listed",
        'return lambda call: everything or call.tool.rpartition("__")[2] in listed',
    ),
)

MEANING = (*STRATEGIES, *TICKETS, *NOTIFIERS, *TOOLS, *TRAJECTORIES, *TERMS, *TRAPS)
