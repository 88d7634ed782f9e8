"""The majority of private answers: ties, and its error where experts are few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dpcheck as dp
from dpcheck.bounds.library.latent import private_majority_vote as theory
from dpcheck.evidence.latent.private_majority_vote import exact_vote_error
from dpcheck.families.truth_inference import majority
from dpcheck.solvers.latent.private_majority_vote import PrivateMajorityVote

BIT = dp.PureDP(2.0, relation=dp.LOCAL_ATTRIBUTE)


def test_it_conforms() -> None:
    dp.check_solver(PrivateMajorityVote())


def test_a_tie_is_a_one() -> None:
    assert majority(np.array([[[1.0, -1.0], [-1.0, -1.0]]])).tolist() == [[0.5, 0.0]]


@pytest.mark.parametrize(("k", "n"), [(7, 1001), (3, 40)])
def test_its_error_is_the_exact_one(k: int, n: int) -> None:
    """Two-sided exact tests at 1e-6; every task's truth is 1. Planted: experts who guess."""
    rng, m = np.random.default_rng(0), 4000
    answers = np.vstack([np.ones((k, m)), rng.integers(0, 2, (n - k, m))])
    wrong = int((PrivateMajorityVote().solve(answers, BIT, rng=1, trials=2).w[0] == 0).sum())
    assert stats.binomtest(wrong, m, exact_vote_error(n, k, 2.0)).pvalue > 1e-6
    assert stats.binomtest(wrong, m, exact_vote_error(n, 0, 2.0)).pvalue < 1e-3


def test_the_sharper_bound_needs_no_epsilon_and_is_far_above_the_printed() -> None:
    n, k = 10_000, 24
    printed = theory.left.evaluate(experts=k, n=n, eps=2.0)
    sharper = theory.any_epsilon.evaluate(experts=k, n=n)
    assert printed < 0.01 < 0.35 < sharper < exact_vote_error(n, k, 2.0)
    assert sharper < exact_vote_error(n, k, 0.01)


def test_the_missing_condition_and_the_instance_exclude_each_other() -> None:
    """v̂ = a²k/n with k < √n (δ < 1/2) is below 16 log(8) √(log m/n), for any m ≥ 9."""
    n = np.geomspace(10, 1e30, 50)
    assert np.all(np.sqrt(n) / n < 16 * np.log(8) * np.sqrt(np.log(9) / n))
