"""A second opinion on chains: Storm, on the same chains, by its own formats."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.errors import RiskError
from sponsio_like.risk import MarkovChain, check_chain, drn_text, prism_text
from tests.risk.chains import random_chain

stormpy = pytest.importorskip("stormpy", reason="stormpy has no wheel for this platform")
CHAINS = 1_000
PROPERTIES = {
    'P=? [F "bad"]': "F bad",
    'P=? [F<=3 "bad"]': "F<=3 bad",
    'P=? [!"bad" U "goal"]': "!bad U goal",
    'P=? [!"bad" U<=4 "goal"]': "!bad U<=4 goal",
    'P=? [X "bad"]': "X bad",
    'P=? [G !"bad"]': "G !bad",
    'P=? [F (P>0.5 [F "bad"])]': "F P>0.5 [F bad]",
}


def values(model: Any, formula: Any) -> list[Fraction]:
    """What Storm says of a formula in each state."""
    found = stormpy.model_checking(model, formula, only_initial_states=False)
    return [Fraction(str(found.get_value(i))) for i in range(model.nr_states)]


def exactly(chain: MarkovChain) -> Any:
    """The chain as Storm holds it in rational numbers."""
    entries = sum(len(row) for row in chain.rows)
    builder = stormpy.datastructures.SparseMatrixBuilder[stormpy.Rational](
        rows=chain.size, columns=chain.size, entries=entries, force_dimensions=True,
        has_custom_row_grouping=False,
    )  # fmt: skip
    for i, row in enumerate(chain.rows):
        for j, p in sorted(row.items()):
            builder.add_next_value(i, j, stormpy.Rational(str(p)))
    labels = stormpy.models.StateLabeling(chain.size)
    for name, states in {**chain.labels, "init": [chain.start]}.items():
        labels.add_label(name)
        for i in states:
            labels.add_label_to_state(name, i)
    parts = stormpy.models.SparseModelComponents[stormpy.Rational](
        transition_matrix=builder.build(), state_labeling=labels
    )
    return stormpy.models.SparseDtmc[stormpy.Rational](parts)


@pytest.mark.long
def test_storm_gives_the_same_probabilities() -> None:
    """On a thousand random chains, all properties have the value that Storm has: difference 0."""
    rng = random.Random(17)
    formulas = {text: stormpy.parse_properties(text)[0] for text in PROPERTIES}
    for _ in range(CHAINS):
        chain = random_chain(rng, rng.randint(2, 9))
        model = exactly(chain)
        for text, path in PROPERTIES.items():
            mine = [each.lo for each in check_chain(chain, f"P>=0 [{path}]")]
            assert mine == values(model, formulas[text]), text


def test_storm_reads_its_explicit_format(tmp_path: Path) -> None:
    """Chains written as DRN have the same probabilities in every state, to Storm's precision."""
    rng = random.Random(23)
    formula = stormpy.parse_properties('P=? [F<=5 "bad"]')[0]
    for _ in range(50):
        chain = random_chain(rng, rng.randint(1, 9))
        path = tmp_path / "chain.drn"
        path.write_text(drn_text(chain), "utf-8")
        model = stormpy.build_model_from_drn(str(path))
        found = stormpy.model_checking(model, formula, only_initial_states=False)
        theirs = [float(found.get_value(i)) for i in range(chain.size)]
        mine = [float(each.lo) for each in check_chain(chain, "P>=0 [F<=5 bad]")]
        assert theirs == pytest.approx(mine, abs=1e-9)


def test_storm_reads_the_language_of_prism(tmp_path: Path) -> None:
    """Chains written for PRISM have the same probabilities, labels and start."""
    rng = random.Random(19)
    formula = stormpy.parse_properties('P=? [F<=6 "bad"]')[0]
    for _ in range(50):
        chain = random_chain(rng, rng.randint(1, 9))
        path = tmp_path / "chain.prism"
        path.write_text(prism_text(chain), "utf-8")
        model = stormpy.build_model(stormpy.parse_prism_program(str(path)), [formula])
        found = stormpy.model_checking(model, formula)
        theirs = float(found.get_value(model.initial_states[0]))
        mine = float(check_chain(chain, "P>=0 [F<=6 bad]")[chain.start].lo)
        assert theirs == pytest.approx(mine, abs=1e-9)


def test_a_label_that_no_checker_reads_is_refused() -> None:
    """A name that PRISM would not take as a label is an error."""
    chain = MarkovChain(("a",), ({0: 1},), {"so bad": frozenset([0])})
    with pytest.raises(RiskError, match="label `so bad` cannot be exported"):
        drn_text(chain)
