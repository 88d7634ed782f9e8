"""Abilities and labels from private answers; what an attribute, a row and a missing answer are promised."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

import dpcheck as dp
from dpcheck.bounds.language.symbols import eps
from dpcheck.bounds.library.latent import private_dawid_skene as theory
from dpcheck.bounds.library.latent.dawid_skene import tasks
from dpcheck.evidence.latent.private_dawid_skene import losses
from dpcheck.families.one_report import OneReport
from dpcheck.kernels.reports import log_chances
from dpcheck.solvers.latent.private_dawid_skene import PrivateDawidSkene
from dpcheck.testing.conformance import NotConforming

BIT = dp.PureDP(1.0, relation=dp.LOCAL_ATTRIBUTE)
ALPHA = 1e-6


def crowd(n: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers, truth and abilities from 0.5 to 1."""
    rng = np.random.default_rng(seed)
    truth, p = rng.integers(0, 2, m), np.linspace(0.5, 1, n)
    return np.where(rng.random((n, m)) < p[:, None], truth, 1 - truth), truth, p


def test_it_conforms() -> None:
    dp.check_solver(PrivateDawidSkene())


class TwoAttributes(PrivateDawidSkene):
    """Planted: its worst pair differs in a whole row of two answers, which the release is not for."""

    def worst_pair(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ones((1, 2)), np.zeros((1, 2))


class EveryAnswerTwice(PrivateDawidSkene):
    """Planted: each answer is reported twice."""

    def method(self, data: np.ndarray, plan: None, released: dp.Solver) -> OneReport:  # type: ignore[override]
        one = super().method(data, plan, released)  # type: ignore[arg-type]
        return OneReport(
            lambda rows: np.repeat(one.ask(rows), 2, axis=1), lambda r: one.server(r[:, :, ::2]), one.users,
            2 * one.each, one.outputs,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("broken", "why"), [(TwoAttributes, "2 attributes of the record differ"), (EveryAnswerTwice, "of its sensitivity")]
)
def test_more_than_one_attribute_or_report_is_flagged(broken: type[dp.Solver], why: str) -> None:
    with pytest.raises(NotConforming, match=why):
        dp.check_solver(broken, promises=["worst_pair_is_one", "sensitivity_is_kept_and_reached"])


@pytest.mark.parametrize("strength", [1e-3, 1.0, 30.0])
def test_the_exact_loss_is_epsilon_for_an_entry_and_m_epsilon_for_a_row(strength: float) -> None:
    cases = [{"seed": seed, "eps": strength} for seed in range(600)]
    for changed in (1, 3):
        assert max(losses(case, changed) for case in cases) == pytest.approx(changed * strength, rel=1e-3)


def test_a_missing_answer_is_between_both() -> None:
    """The loss between an answer and none is less than between two answers."""
    scale = float(theory.theorem1.evaluate(eps=1.0))
    sides = np.array([[1.0], [-1.0]])
    yes, none, no = (log_chances(sides, np.array([x]), scale).ravel() for x in (1.0, 0.0, -1.0))
    assert np.abs(yes - no).max() == pytest.approx(1.0)
    assert np.abs(yes - none).max() == pytest.approx(math.log((1 + math.e) / 2))


def test_audits_of_a_searched_entry_pass_and_of_a_row_do_not() -> None:
    """False alarms at most 1e-6. The row is the planted bug: ε said of what has only mε."""

    def reports(row: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return PrivateDawidSkene().mechanism(BIT, transcript=True)(row[None], rng, trials)[:, 0]

    near = dp.one_attribute(values=(0.0, 1.0), d=3)
    found = dp.audit(reports, neighbours=near, guarantee=BIT, max_trials=40_000, alpha=ALPHA, seed=1, executor=1)
    assert not found.violated
    rows = dp.audit(
        reports, neighbours=dp.group(near, 3), guarantee=dp.PureDP(1.0, relation=dp.group(near, 3).relation),
        max_trials=40_000, alpha=ALPHA, seed=1, executor=1,
    )  # fmt: skip
    assert rows.violated
    assert BIT.for_group(3).eps == 3.0


def test_the_record_is_never_taken_for_an_attribute() -> None:
    answers, _, _ = crowd(3, 4)
    for relation in (dp.LOCAL, dp.REPLACE_ONE, dp.ADD_REMOVE, dp.LABEL_ONLY):
        with pytest.raises(dp.MixedRelations, match="local attribute"):
            PrivateDawidSkene().solve(answers, dp.PureDP(1.0, relation=relation))
    with pytest.raises(dp.MixedRelations, match="guarantee's relation"):
        dp.audit(
            PrivateDawidSkene().mechanism(BIT), neighbours=dp.one_user(values=(0, 1)), guarantee=BIT, max_trials=100
        )


# Error -----------------------------------------------------------------------------------------------
def test_abilities_err_as_the_claim_says_and_not_without_the_rescaling() -> None:
    """Hoeffding at 1e-6 for 12 users, ε = 1, the truth being told by forty others."""
    answers, truth, p = crowd(12, 20_000)
    sure = np.vstack([answers, np.tile(truth, (40, 1))])
    found = PrivateDawidSkene().solve(sure, BIT, rng=0, trials=4).w[:, :12]
    off = np.abs(found - p)
    bound = 6 * math.sqrt(math.log(20_000) / 20_000)
    assert theory.theorem3.formula.subs({eps: 1, tasks: 20_000}).evalf() == pytest.approx(bound)
    assert off.max() < bound
    assert np.abs(0.5 + (found - 0.5) * math.tanh(0.5) - p).max() > bound  # planted: as reported, not rescaled


def test_the_refutation_counts_as_it_says() -> None:
    """How often √(m log m) labels are not all right under the Bayes rule, over 1/m: it grows without end."""
    needed = []
    for m in (1e7, 1e10, 1e13, 1e16):
        n = math.ceil(9 * math.log(m))
        wrong = float(stats.binom.sf(n // 2, n, 0.25)) + (n % 2 == 0) * float(stats.binom.pmf(n // 2, n, 0.25)) / 2
        assert 2 * m * math.exp(-n / 8) < 1  # the bound allows no wrong label
        assert 64 * math.sqrt(math.log(m) / m) <= 0.1 <= 1 / 8 - math.sqrt(math.log(m) / m) / 2
        assert n <= m <= math.exp(n)
        assert math.log(m) / n <= 0.25
        needed.append(-m * math.expm1(math.sqrt(m * math.log(m)) * math.log1p(-wrong)))
    assert all(later > 3 * before for before, later in itertools.pairwise(needed))
    # Where the missing condition holds, no label is wrong: n v̂² ≥ 256 log(1/λ)² log m.
    m = 1e16
    n = math.ceil((16 * math.log(10) / 0.25) ** 2 * math.log(m))
    assert m * m * float(stats.binom.sf(n // 2 - 1, n, 0.25)) < 1e-30


def test_keeping_probability_is_the_printed_one() -> None:
    sure = np.ones((1, 100_000))
    kept = PrivateDawidSkene().mechanism(dp.PureDP(2.0, relation=dp.LOCAL_ATTRIBUTE), transcript=True)
    seen = (kept(sure, np.random.default_rng(0), 1) == 1).sum()
    assert stats.binomtest(int(seen), 100_000, float(special.expit(2.0))).pvalue > ALPHA
    assert stats.binomtest(int(seen), 100_000, float(special.expit(1.9))).pvalue < ALPHA
