"""Bugs against what strategies, tickets, notifiers, decorated tools and trajectories mean.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted_meaning.py`). The requirements that they break are in `tests/manifest_people.py`.
"""

from __future__ import annotations

STRATEGIES = (
    (
        "patterns know better than contracts",
        "compiler.py",
        "return contract.answer or rule.answer or Block()",
        "return rule.answer or contract.answer or Block()",
    ),
    (
        "no argument is dropped",
        "verdicts.py",
        "        if names.get(key, key) is not None\n",
        "",
    ),
    (
        "responses are redirected",
        "deciding.py",
        "            case Redirect() as answer, Call():\n",
        (
            "            case Redirect(), Message():\n"
            "                return allowed(first.found), first\n"
            "            case Redirect() as answer, Call():\n"
        ),
    ),
    (
        "held calls run",
        "interceptor.py",
        "if answers is not None:",
        "if answers is not None and not isinstance(answers, Escalate):",
    ),
    (
        "callables are asked again and again",
        "deciding.py",
        "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)",
        (
            "ruling(ask, finding.violation, event)\n            "
            "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)"
        ),
    ),
    (
        "what is no answer asks people",
        "deciding.py",
        "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)",
        (
            "answer = ruling(ask, finding.violation, event)\n"
            "            rulings[finding.violation.contract] = "
            "answer if isinstance(answer, Redirect) else Escalate()"
        ),
    ),
    (
        "nobody is asked about results",
        "telling.py",
        "                _run(decision, each)\n",
        "                pass\n",
    ),
    (
        "people are told what is only observed",
        "telling.py",
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
        "pattern.py",
        "if parameter.default.lacking(made, words):",
        "if False:",
    ),
    (
        "callables run under the lock",
        "deciding.py",
        "            rulings[finding.violation.contract] = ruling(ask, finding.violation, event)\n",
        (
            "            with inner._lock:\n                "
            "rulings[finding.violation.contract] = ruling(ask, finding.violation, event)\n"
        ),
    ),
    (
        "whatever goes wrong is allowed",
        "deciding.py",
        "    if not inner.policy.enforces:\n",
        "    if True:\n",
    ),
)

TICKETS = (
    (
        "any call has the ticket",
        "tickets.py",
        "if ticket.mark != mark:",
        "if not ticket.mark:",
    ),
    (
        "made ids are ids",
        "tickets.py",
        "(_is_made(ticket.call) and _is_made(call))",
        "False",
    ),
    (
        "what cannot be read is approved",
        "deciding.py",
        "    if mark.startswith(UNLIKE):\n",
        "    if not mark:\n",
    ),
    (
        "any role may answer",
        "tickets.py",
        "return not self.roles or role in self.roles",
        "return True",
    ),
    (
        "one yes is enough",
        "tickets.py",
        "if all(each.by for each in asked)",
        "if any(each.by for each in asked)",
    ),
    (
        "answers can be changed",
        "tickets.py",
        'raise SessionError(f"ticket `{id}` is {ticket.status}; it cannot be answered")',
        "return ticket",
    ),
    (
        "a no is forgotten",
        "tickets.py",
        "if ticket.mark != mark:",
        'if ticket.mark != mark or ticket.status == "denied":',
    ),
    (
        "nothing is revoked",
        "tickets.py",
        'return self._keep(replace(ticket, status="revoked", by=by))',
        "return ticket",
    ),
    (
        "the longest time counts",
        "deciding.py",
        "within = min(limits, default=None)",
        "within = max(limits, default=None)",
    ),
    (
        "an approval answers everybody",
        "interceptor.py",
        "left = found if substitute else unanswered(found, ticket)",
        "left = found if substitute or not ticket else ()",
    ),
    (
        "who asks later asks alone",
        "tickets.py",
        "asked=(*kept, *more), status",
        "asked=tuple(more), status",
    ),
    (
        "what comes late to a held call is left out",
        "tickets.py",
        "news = violated - known.told",
        "news: frozenset[str] = frozenset()",
    ),
    (
        "roles are asked once",
        "verdicts.py",
        "if asked in answered}",
        "if asked[0] in dict(answered)}",
    ),
    (
        "all ids of tickets are made at random",
        "tickets.py",
        "if not call or _is_made(call):",
        "if session or call:",
    ),
    (
        "the time to answer begins anew",
        "tickets.py",
        "sooner = min(ticket.until, at + ticket.within)",
        "sooner = ticket.until",
    ),
    (
        "an approval is good for ever",
        "interceptor.py",
        "        self.desk.use(ticket)\n",
        "",
    ),
    (
        "an approval is good for the substitute",
        "interceptor.py",
        "left = found if substitute else unanswered(found, ticket)",
        "left = unanswered(found, ticket)",
    ),
    (
        "all responses are the same",
        "flights.py",
        'return digest("response", {"text": event.text})',
        'return digest("response", {})',
    ),
    (
        "answers outlive their questions",
        "resuming.py",
        "asked.contract not in anew and still_asks(inner.policy, asked)",
        "asked.contract not in anew",
    ),
    (
        "tickets are not capped",
        "tickets.py",
        "if len(self.tickets) < TICKETS_CAP:",
        "if self.tickets is not None:",
    ),
    (
        "answers are not logged",
        "session.py",
        "        self._log.ticket(self.id, answered)\n",
        "",
    ),
)

NOTIFIERS = (
    (
        "the guard tells nobody",
        "telling.py",
        "dict.fromkeys((*own, *self.everyone))",
        "dict.fromkeys(own)",
    ),
    (
        "notices have no ticket",
        "telling.py",
        "                notice = replace(notice, ticket=ticket.id, roles=ticket.roles)\n",
        "                pass\n",
    ),
    (
        "a held call is told again",
        "tickets.py",
        "news = violated - known.told",
        "news = violated",
    ),
    (
        "notifiers run at once",
        "notices.py",
        "self._waiting.put_nowait(notice)",
        "self.notifier(notice)",
    ),
    (
        "notifiers run under a lock",
        "notices.py",
        "            self._waiting.put_nowait(notice)\n",
        "            with self._lock:\n                self.notifier(notice)\n",
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
        "notices.py",
        "= queue.Queue(MAILBOX_CAP)",
        "= queue.LifoQueue(MAILBOX_CAP)",
    ),
    (
        "mailboxes are not capped",
        "notices.py",
        "= queue.Queue(MAILBOX_CAP)",
        "= queue.Queue()",
    ),
    (
        "nothing is tried again",
        "webhook.py",
        "passing = answer.is_server_error or answer.status_code == BUSY",
        "passing = False",
    ),
    (
        "the end is told to nobody",
        "telling.py",
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
        "running.py",
        "        session.settle(id, output=answer)\n",
        "        pass\n",
    ),
    (
        "defaults are not filled in",
        "binding.py",
        (
            "        bound.apply_defaults()\n        named = bound.arguments\n"
            "        return Bound(bound.args"
        ),
        "        named = bound.arguments\n        return Bound(bound.args",
    ),
    (
        "the body receives what was given",
        "tools.py",
        "run = Run(self.function, bound.args, bound.kwargs, self.answer)",
        "run = Run(self.function, args, kwargs, self.answer)",
    ),
    (
        "what does not fit is passed on",
        "binding.py",
        "bound.arguments[name] = self._coerced(name, value)",
        "bound.arguments[name] = self._if_it_can(name, value)",
    ),
    (
        "observers change arguments",
        "binding.py",
        "return Bound(args, kwargs, ",
        "return Bound(bound.args, bound.kwargs, ",
    ),
    (
        "what is the host's is never read",
        "binding.py",
        "read = written(value) if hosts else as_data(value, room)",
        "read = UNREADABLE if hosts else as_data(value, room)",
    ),
    (
        "what cannot be read is nothing",
        "plain.py",
        (
            "    except Exception:  # a value of the host's own making may raise when it is read\n"
            "        return UNREADABLE\n"
        ),
        "    except Exception:\n        return 0\n",
    ),
    (
        "a blocked call has no answer",
        "running.py",
        'return outcome.advice if on_block == "return"',
        'return None if on_block == "return"',
    ),
    (
        "a held call has no answer",
        "running.py",
        "                return outcome.ticket\n",
        "                return None\n",
    ),
    (
        "a call waits once",
        "running.py",
        'while isinstance(outcome, Held) and on_hold == "wait":',
        'if isinstance(outcome, Held) and on_hold == "wait":',
    ),
    (
        "the tool is its own substitute",
        "tools.py",
        "run = Run(tool.function, ",
        "run = Run(self.function, ",
    ),
    (
        "substitutes that cannot run raise",
        "running.py",
        "    except Exception as error:  # there is none",
        "    except ValueError as error:  # there is none",
    ),
    (
        "what has failed is done",
        "running.py",
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
        "running.py",
        "if isinstance(step, Run) and inspect.isawaitable(result):",
        "if isinstance(step, Wait) and inspect.isawaitable(result):",
    ),
    (
        "the active session comes first",
        "tools.py",
        "here = acting() if self.session is None else acting_in(self.session)",
        "here = acting() or acting_in(self.session)",
    ),
    (
        "without a session tools run",
        "tools.py",
        "        if policy.enforces:\n            raise",
        "        if not policy:\n            raise",
    ),
    (
        "names are taken twice",
        "toolbox.py",
        "if origin.home != known.home or (at_once and origin.differs(known)):",
        "if origin is known:",
    ),
    (
        "wrapped tools keep their names",
        "guard.py",
        "decorated(box, each, Options(name=name, **options), batch)",
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
        "kinship.py",
        "return not self._stranger(with_) and own == self._shared(own, with_)",
        "return True",
    ),
    (
        "all calls are made by the same agent",
        "acting.py",
        "return agent, 0 if self.depth is None else self.depth",
        'return "agent", 0 if self.depth is None else self.depth',
    ),
    (
        "secrets are masked",
        "plain.py",
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
        "self._violated_at.setdefault(violation.contract, self._steps)",
        "self._violated_at[violation.contract] = self._steps",
    ),
    (
        "the report is as good as the best",
        "trajectory.py",
        '"verdict": overall(set(verdicts.values()))',
        '"verdict": max(verdicts.values())',
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
        "setdefault(violation.contract, self._steps)",
        "setdefault(violation.contract, sorted(names))",
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
        "self._session = guard.session(clock=lambda: 0.0)",
        ('self._session = vars(guard).setdefault("shared", guard.session(clock=lambda: 0.0))'),
    ),
)

TERMS = (
    (
        "the last value is that of then",
        "past.py",
        "v, x, s, p, t: kept(v[a]) if v[b] else s[r]",
        "v, x, s, p, t: kept(v[a]) if v[b] and s[r] is MISSING else s[r]",
    ),
    (
        "long texts are remembered",
        "past.py",
        "len(value) <= KEPT_CAP",
        "len(value) > 0",
    ),
    (
        "failures deliver nothing",
        "landing.py",
        "inner.context.arrived(flight.sources)",
        "inner.context.arrived(())",
    ),
    (
        "a fact is as old as when it was new",
        "context.py",
        "told_at={**self.told_at, key: time}",
        "told_at={key: time, **self.told_at}",
    ),
    (
        "an approval is as old as its telling",
        "context.py",
        '{"time": time, **value}',
        '{**value, "time": time}',
    ),
    (
        "what is missing has no mark",
        "terms.py",
        'return digest("", [given(call.args)] if path == "*" else list(reach(call.args, path)))',
        (
            'return digest("", [given(call.args)] if path == "*" else list(reach(call.args, path)))'
            ' if path == "*" or find(call.args, path) else MISSING'
        ),
    ),
    (
        "only totals are tokens",
        "context.py",
        "for keys in TOKENS)",
        "for keys in TOKENS[:1])",
    ),
    (
        "approvals may be of the future",
        "terms.py",
        "since > now + SKEW_SECONDS",
        "since is None",
    ),
    (
        "marks see one shape",
        "terms.py",
        "else list(reach(call.args, path)))",
        "else find(call.args, path))",
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
        "atoms.py",
        "return lambda call: everything or call.tool in listed",
        'return lambda call: everything or call.tool.rpartition("__")[2] in listed',
    ),
)

MEANING = (*STRATEGIES, *TICKETS, *NOTIFIERS, *TOOLS, *TRAJECTORIES, *TERMS, *TRAPS)
