"""Amplification by sampling (zhang17, Lemma 9; dwang20, Lemma 2.1.2): exact laws of a sampled response."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Effort, Verdict, judge
from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.library.mechanisms import subsampling as theory
from dpcheck.bounds.library.mechanisms.subsampling import lemma9, lemma9_corrected, lemma9_exact
from dpcheck.bounds.privacy.exact import amplified_epsilon
from dpcheck.evidence.mechanisms.subsampling import SampledResponse, attacked

Law = dict[str, float]


def response(holds: bool, eps: float, delta: float) -> Law:
    """(eps, delta)-private: says yes or no by randomised response, and with probability delta tells the truth."""
    yes = 1 / (1 + math.exp(-eps))
    yes = yes if holds else 1 - yes
    return {
        "surely yes": delta * holds,
        "surely no": delta * (not holds),
        "yes": (1 - delta) * yes,
        "no": (1 - delta) * (1 - yes),
    }


def sampled(data: tuple[int, ...], m: int, eps: float, delta: float) -> Law:
    """The law of `response` to "is there a 1 among them?" on m records drawn without replacement."""
    draws = list(itertools.combinations(data, m))
    each = [response(1 in draw, eps, delta) for draw in draws]
    return {out: sum(law[out] for law in each) / len(draws) for out in each[0]}


def spent(first: Law, second: Law, eps: float) -> float:
    """The least delta at eps: the hockey-stick divergence."""
    return sum(max(0.0, first[out] - math.exp(eps) * second[out]) for out in first)


def least_epsilon(first: Law, second: Law) -> float:
    """At delta = 0."""
    return max(math.log(first[out] / second[out]) for out in first if first[out] > 0)


sizes = st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n)))


@given(size=sizes, eps=st.floats(0.05, 4.0))
@settings(max_examples=50, deadline=None)
def test_the_exact_bound_is_attained(size: tuple[int, int], eps: float) -> None:
    """One record says 1 or 0, the others 0: log(1 + q (e^eps - 1)) exactly."""
    n, m = size
    one, none = (1, *[0] * (n - 1)), (0,) * n
    exact = float(lemma9_exact.evaluate(q=m / n, eps=eps))
    found = least_epsilon(sampled(one, m, eps, 0.0), sampled(none, m, eps, 0.0))
    assert found == pytest.approx(exact, rel=1e-9)
    assert found == pytest.approx(float(amplified_epsilon(eps, m / n)), rel=1e-9)


@given(size=sizes, eps=st.floats(0.05, 4.0), delta=st.floats(0.0, 0.3))
@settings(max_examples=30, deadline=None)
def test_no_pair_of_datasets_exceeds_it(size: tuple[int, int], eps: float, delta: float) -> None:
    """All datasets of zeros and ones, every record replaced, both directions: at most q delta at the exact eps."""
    n, m = size
    q = m / n
    level = float(lemma9_exact.evaluate(q=q, eps=eps))
    worst = 0.0
    for data in itertools.product((0, 1), repeat=n):
        for i in range(n):
            other = (*data[:i], 1 - data[i], *data[i + 1 :])
            worst = max(worst, spent(sampled(data, m, eps, delta), sampled(other, m, eps, delta), level))
    assert worst <= q * delta + 1e-12
    if q < 1 and delta > 0.01:
        assert worst > 0.5 * q * delta  # planted: delta amplified twice, q^2 delta, would be too small if q <= 1/2


@given(size=sizes, eps=st.floats(0.05, 4.0))
@settings(max_examples=50, deadline=None)
def test_sampling_is_told_apart_from_none_and_from_a_linear_rule(size: tuple[int, int], eps: float) -> None:
    """Planted: eps' = q eps, which is too small whenever q < 1."""
    n, m = size
    one, none = (1, *[0] * (n - 1)), (0,) * n
    found = least_epsilon(sampled(one, m, eps, 0.0), sampled(none, m, eps, 0.0))
    if m < n:
        assert m / n * eps < found < eps
    else:
        assert found == pytest.approx(eps, rel=1e-9)


def test_lemma_9_as_printed_fails_for_large_eps_and_small_shares() -> None:
    """2 q eps is too small at eps = 3, q = 1/6: the sampled response itself exceeds it."""
    one, none = (1, 0, 0, 0, 0, 0), (0,) * 6
    found = least_epsilon(sampled(one, 1, 3.0, 0.0), sampled(none, 1, 3.0, 0.0))
    assert found > float(lemma9.evaluate(q=1 / 6, eps=3.0)) * 1.2
    with pytest.raises(HypothesisViolated):
        lemma9_corrected.evaluate(q=1 / 6, eps=3.0)
    assert judge([c.run(lemma9, Effort()) for c in lemma9.checks]) is Verdict.REFUTED


@given(q=st.floats(1e-6, 1.0), eps=st.floats(1e-3, 1.256))
@settings(max_examples=100, deadline=None)
def test_lemma_9_holds_within_the_corrected_range(q: float, eps: float) -> None:
    assert lemma9_exact.evaluate(q=q, eps=eps) <= lemma9_corrected.evaluate(q=q, eps=eps) * (1 + 1e-12)


# dwang20, Lemma 2.1.2 ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("claim", "eps", "flagged"),
    [("lemma2", 3.0, True), ("lemma2", 1.25, False), ("lemma2_corrected", 1.25, False), ("lemma2_exact", 3.0, False)],
)
def test_the_audit_of_a_sampled_response(claim: str, eps: float, flagged: bool) -> None:
    """False alarms: 1e-6. Planted: the printed bound, where it is false."""
    mechanism, pair, promised = attacked(claim, eps)
    found = audit(mechanism, pair=pair, guarantee=promised, max_trials=60_000, alpha=1e-6, seed=5)
    assert found.violated is flagged


def test_the_sampled_response_has_the_law_computed_above() -> None:
    said = SampledResponse(2.0, 3)(np.eye(6)[0], np.random.default_rng(0), 200_000).mean()
    exact = sampled((1, 0, 0, 0, 0, 0), 3, 2.0, 0.0)["yes"]
    assert abs(said - exact) < 5 * math.sqrt(exact * (1 - exact) / 200_000)


def test_lemma_2_1_2_is_far_off_for_large_eps() -> None:
    assert theory.lemma2_exact.evaluate(q=0.01, eps=5.0) == pytest.approx(0.906, abs=1e-3)
    assert theory.lemma2.evaluate(q=0.01, eps=5.0) == pytest.approx(0.1)
