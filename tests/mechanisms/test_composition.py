"""Strong composition (zhang17, Lemma 10) against the exact composition of randomised responses."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, log, sqrt

from bounds.accounting import optimal_composition, strong_composition
from bounds.claim import Effort, Verdict, judge
from bounds.mechanisms.composition import lemma10, lemma10_corrected
from bounds.symbols import T, delta1, eps, eps_out

budgets = st.floats(0.005, 2.0)
counts = st.integers(1, 200)
slacks = st.floats(1e-9, 0.2)


@given(e=budgets, steps=counts, slack=slacks, own=st.sampled_from([0.0, 1e-6, 1e-4]))
@settings(max_examples=60, deadline=None)
def test_both_forms_are_at_least_the_exact_composition(e: float, steps: int, slack: float, own: float) -> None:
    total = steps * own + slack
    if total >= 1:
        return
    exact = optimal_composition(e, own, steps).epsilon(total)
    for claim in (lemma10, lemma10_corrected):
        assert claim.evaluate(eps=e, T=steps, delta=own, delta1=slack) >= exact * (1 - 1e-9)


@given(e=budgets, steps=counts, slack=slacks)
@settings(max_examples=60, deadline=None)
def test_the_corrected_form_is_the_textbooks(e: float, steps: int, slack: float) -> None:
    ours = lemma10_corrected.evaluate(eps=e, T=steps, delta=0.0, delta1=slack)
    assert ours == pytest.approx(strong_composition(e, steps, slack), rel=1e-12)
    printed = lemma10.evaluate(eps=e, T=steps, delta=0.0, delta1=slack)
    assert (printed >= ours * (1 - 1e-12)) == (e <= 1) or e == pytest.approx(1)


@pytest.mark.parametrize(("e", "steps"), [(0.3, 1), (0.7, 3), (1.5, 6)])
def test_the_exact_composition_by_enumeration(e: float, steps: int) -> None:
    """Every outcome of `steps` randomised responses, probabilities multiplied out."""
    keep = 1 / (1 + math.exp(-e))
    for at in (0.0, e, 0.5 * steps * e):
        spent = 0.0
        for told in itertools.product((True, False), repeat=steps):
            right = sum(told)
            p = keep**right * (1 - keep) ** (steps - right)
            q = (1 - keep) ** right * keep ** (steps - right)
            spent += max(0.0, p - math.exp(at) * q)
        assert optimal_composition(e, 0.0, steps).profile(at) == pytest.approx(spent, rel=1e-9, abs=1e-14)


def test_planted_forms_fall_below_it() -> None:
    """Without the 2 under the root; with the square root of T left out."""
    exact = optimal_composition(0.1, 0.0, 100).epsilon(1e-5)
    for wrong in (sqrt(T * log(1 / delta1)) * eps, sqrt(2 * log(1 / delta1)) * eps):
        planted = replace(lemma10_corrected, id="zhang17.planted", states=Eq(eps_out, wrong))
        assert planted.evaluate(eps=0.1, T=100, delta=0.0, delta1=1e-5) < exact
        assert judge([c.run(planted, Effort()) for c in planted.checks]) is Verdict.REFUTED
