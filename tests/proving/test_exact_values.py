"""Bounds against computed values: what exceeds is refuted inside the hypotheses, what does not is supported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sympy import Ge, Le, Lt

from dpcheck.bounds.language.claim import Claim, Effort, Kind, Source, Verdict
from dpcheck.bounds.language.symbols import eps, n, ratio
from dpcheck.bounds.proving.exact_values import ExactValue

BOX = {n: (2, 100), eps: (0.1, 10.0)}
SQUARES = ExactValue(lambda at: at["n"] ** 2 / (1 + at["eps"]), BOX, "squares")


def claim(states: object, *assumes: object) -> Claim:
    source = Source("zhang17", "made up")
    said = {"id": "zhang17.exact_value", "kind": Kind.UTILITY, "source": source, "says": "made up"}
    return Claim(**said, states=states, assumes=list(assumes), checks=[SQUARES])  # type: ignore[arg-type]


def judged(made: Claim) -> Verdict:
    return SQUARES.run(made, Effort(seed=0)).verdict


def test_a_bound_is_supported_and_a_smaller_one_refuted() -> None:
    assert judged(claim(Le(ratio, n**2))) is Verdict.SUPPORTED
    found = SQUARES.run(claim(Le(ratio, n**2 / 2)), Effort(seed=0))
    assert found.verdict is Verdict.REFUTED
    point = found.counterexample
    assert point is not None
    assert point["eps"] < 1
    assert SQUARES.replay(claim(Le(ratio, n**2 / 2)), point).verdict is Verdict.REFUTED
    assert SQUARES.replay(claim(Le(ratio, n**2)), point).verdict is Verdict.UNCHECKED


def test_points_outside_of_the_hypotheses_refute_nothing() -> None:
    assert judged(claim(Le(ratio, n**2 / 2), Ge(eps, 1))) is Verdict.SUPPORTED
    assert judged(claim(Le(ratio, n**2 / 2), Lt(eps, 1))) is Verdict.REFUTED
    assert judged(claim(Le(ratio, n**2), Ge(eps, 50))) is Verdict.UNCHECKED


def test_lower_bounds_are_not_its_business() -> None:
    assert judged(claim(Ge(ratio, n))) is Verdict.UNCHECKED


def test_symbols_that_both_sides_share_need_no_search() -> None:
    shared = replace(SQUARES, value=lambda at: np.asarray(at["n"]) ** 2 / 2, box={n: (2, 100)}, unit={eps: 1.0})
    found = shared.run(claim(Le(ratio, n**2 / (4 * eps))), Effort(seed=0))
    assert found.verdict is Verdict.REFUTED
    assert found.margin == pytest.approx(1)
    assert found.counterexample is not None
    assert found.counterexample["eps"] == 1
