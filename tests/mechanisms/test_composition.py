"""Composition (zhang17, Lemma 10; dwang20, Lemmas 2.1.1, 2.1.4 to 2.1.6) against exact compositions of small laws."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, log, sqrt

from dpcheck.bounds.language.claim import Claim, Effort, Verdict, judge
from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, delta1, eps, eps_out
from dpcheck.bounds.library.mechanisms import composition as theory
from dpcheck.bounds.library.mechanisms.composition import lemma10, lemma10_corrected
from dpcheck.bounds.privacy.exact import optimal_composition, strong_composition
from dpcheck.evidence.mechanisms import composition as code

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


# dwang20, chapter 2 --------------------------------------------------------------------------------
targets = st.floats(0.01, 0.99)


@given(e=targets, steps=counts, slack=st.floats(1e-7, 0.2))
@settings(max_examples=60, deadline=None)
def test_advanced_budgets_compose_to_what_is_promised(e: float, steps: int, slack: float) -> None:
    """Lemma 2.1.5 at 2δ, its use at δ, twice its budget at 2δ; three times the budget is too much somewhere."""
    for claim, share, total in (
        (theory.lemma5, slack / steps, 2 * slack),
        (theory.lemma5_total, slack / (2 * steps), slack),
        (theory.lemma5_sharper, slack / steps, 2 * slack),
    ):
        budget = float(claim.evaluate(eps=e, T=steps, delta=slack))
        assert optimal_composition(budget, share, steps).epsilon(total * (1 + 1e-6)) <= e


def test_the_sharper_budget_is_twice_the_printed_one() -> None:
    here = {"eps": 0.5, "T": 30, "delta": 1e-4}
    assert theory.lemma5_sharper.evaluate(**here) == pytest.approx(2 * theory.lemma5.evaluate(**here), rel=1e-12)
    with pytest.raises(HypothesisViolated, match="ε < 1"):
        theory.lemma5.evaluate(eps=1.5, T=30, delta=1e-4)


def planted(states: object, total: object) -> Claim:
    return replace(theory.lemma5, id="dwang20.planted", states=states, guarantee=ApproxDP(eps, total))


@pytest.mark.parametrize(
    ("states", "total"),
    [
        (Eq(theory.eps_step, 3 * theory.lemma5_sharper.formula), 2 * delta),
        (theory.lemma6.states, delta),  # T mechanisms, each (ε', δ), are not (ε, δ)-private
    ],
    ids=["three times the sharper budget", "Lemma 2.1.6 for a total of δ"],
)
def test_planted_budgets_are_refuted_and_replay(states: object, total: object) -> None:
    claim = planted(states, total)
    check = theory.StepAccountant(delta if total is delta else delta / T, "planted")
    found = check.run(claim, Effort())
    assert found.verdict is Verdict.REFUTED
    assert check.replay(claim, found.counterexample or {}).verdict is Verdict.REFUTED


@pytest.mark.parametrize("claim_id", sorted(code.CHECKS))
def test_small_laws_keep_every_bound_and_catch_a_smaller_one(claim_id: str) -> None:
    """A bound of 0.6 times the stated one would be exceeded."""
    (check,) = code.CHECKS[claim_id]
    assert check.run(theory.lemma1, Effort()).verdict is Verdict.SUPPORTED

    shares = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        whole = {k: isinstance(low, int) for k, (low, _) in check.cases.items()}
        case = {
            k: int(rng.integers(*ends, endpoint=True)) if whole[k] else rng.uniform(*ends)
            for k, ends in check.cases.items()
        }
        measured, bound = check.measure(case)
        shares.append(measured / bound if bound else 0.0)
    assert 0.6 < max(shares) <= 1 + 1e-9
