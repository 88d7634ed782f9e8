"""Composition (zhang17, Lemma 10; dwang20, Lemmas 2.1.4 to 2.1.6) against the exact one, by enumeration."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.library.mechanisms import composition as theory
from dpcheck.bounds.privacy.exact import optimal_composition, strong_composition

counts = st.integers(1, 200)
slacks = st.floats(1e-7, 0.2)


@given(e=st.floats(0.005, 2.0), steps=counts, slack=slacks, own=st.sampled_from([0.0, 1e-6, 1e-4]))
@settings(max_examples=60, deadline=None)
def test_both_forms_of_lemma_10_are_at_least_the_exact_composition(
    e: float, steps: int, slack: float, own: float
) -> None:
    """And the corrected one is the textbooks'."""
    exact = optimal_composition(e, own, steps).epsilon(min(steps * own + slack, 0.999))
    for claim in (theory.lemma10, theory.lemma10_corrected):
        assert claim.evaluate(eps=e, T=steps, delta=own, delta1=slack) >= exact * (1 - 1e-9)
    ours = theory.lemma10_corrected.evaluate(eps=e, T=steps, delta=0.0, delta1=slack)
    assert ours == pytest.approx(strong_composition(e, steps, slack), rel=1e-12)


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


@example(total=0.03125, steps=10, slack=0.0008469714134829094)
@given(total=st.floats(0.01, 0.99), steps=counts, slack=slacks)
@settings(max_examples=60, deadline=None)
def test_printed_budgets_compose_to_what_is_promised(total: float, steps: int, slack: float) -> None:
    """ε' as printed, at 2δ; beyond ε = 1 the lemma is silent. Planted: five times the budget, of many mechanisms."""
    each = total / float(theory.lemma5.evaluate(eps_step=1e-9, T=steps, delta=slack)) * 1e-9
    assert each == pytest.approx(total / (2 * math.sqrt(2 * steps * math.log(2 / slack))))
    assert optimal_composition(each, slack / steps, steps).epsilon(2 * slack * (1 + 1e-6)) <= total
    with pytest.raises(HypothesisViolated):
        theory.lemma5.evaluate(eps_step=1.01 * each / total, T=steps, delta=slack)
    if steps >= 10 and slack < 1e-3 and total > 300 * slack:  # nearer to delta, delta pays for it
        assert optimal_composition(5 * each, slack / steps, steps).epsilon(2 * slack) > total
