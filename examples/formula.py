"""Three formulas, and the verdict on each after every call.

A verdict is `violated` or `satisfied` as soon as nothing that may still happen can change it; until
then it is `inconclusive`. What is still owed is pending, and unfulfilled if the session ends.

$ python examples/formula.py
login first  !called(withdraw) W done(login)
at most 100  G(sum(withdraw, amount) <= 100)
recorded     G(done(withdraw) -> X F done(record))

               login first    at most 100    recorded       still to come
login          satisfied      inconclusive   inconclusive
withdraw 70    satisfied      inconclusive   inconclusive   recorded
record         satisfied      inconclusive   inconclusive
withdraw 40    satisfied      violated       inconclusive   recorded

unfulfilled at the end: recorded
"""

from sponsio_like import Guard, contract

FORMULAS = {
    "login first": "!called(withdraw) W done(login)",
    "at most 100": "G(sum(withdraw, amount) <= 100)",
    "recorded": "G(done(withdraw) -> X F done(record))",
}
CALLS: tuple[tuple[str, dict[str, int]], ...] = (
    ("login", {}),
    ("withdraw", {"amount": 70}),
    ("record", {}),
    ("withdraw", {"amount": 40}),
)

contracts = [contract(name).guarantees({"ltl": text}) for name, text in FORMULAS.items()]
session = Guard(contracts, mode="observe").session()

for name, text in FORMULAS.items():
    print(f"{name:<13}{text}")
print(f"\n{'':<15}{''.join(f'{name:<15}' for name in FORMULAS)}still to come")
for tool, args in CALLS:
    decided = session.decide(tool, args)
    session.settle(decided.id, output="ok")
    verdicts = "".join(f"{verdict:<15}" for verdict in session.verdicts().values())
    owed = ", ".join(each.contract for each in session.pending())
    shown = " ".join([tool, *map(str, args.values())])
    print(f"{shown:<15}{verdicts}{owed}".rstrip())
print("\nunfulfilled at the end:", *(each.contract for each in session.finish()))
