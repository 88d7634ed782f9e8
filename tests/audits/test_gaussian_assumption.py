"""assume="gdp" says what it assumes, sees noise that is not Gaussian, and falls back on what holds without.

False alarms: the checks call Gaussian noise something else at the rate GATE; the limit of each count is stated.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import audit, epsilon_from_mu
from dpcheck.audits.gaussian import FEWEST
from dpcheck.audits.statistics.counted_event import CountedEvent
from dpcheck.audits.statistics.event_choice import Choice, Target
from dpcheck.audits.statistics.normality import (
    GATE,
    FittedNormal,
    Shape,
    kurtosis_score,
    merged,
    skewness_score,
    unlike_gaussian,
)
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP, PureDP
from dpcheck.report.audit_page import audit_page
from dpcheck.testing import run_ledger as ledger
from dpcheck.testing.assertions import PrivacyViolation, assert_private, private

Noise = Callable[[np.random.Generator, int], np.ndarray]
DELTA = 1e-5
BETWEEN = ApproxDP(4.0, DELTA)  # Gaussians one deviation apart have 4.38, of which 2e4 runs of an event show about 2


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def measured(mechanism: Any, trials: int, seed: int = 0, **more: Any) -> Any:
    asked = {"pair": (0.0, 1.0), "guarantee": None, "delta": DELTA, "assume": "gdp", **more}
    return audit(mechanism, max_trials=trials, seed=seed, **asked)


def shape_of(scores: np.ndarray, ruler: FittedNormal, chunks: int = 4) -> Shape:
    parts = np.array_split(scores, chunks)
    sums = [len(scores), *(float((scores**k).sum()) for k in (1, 2, 3, 4)), 0.0]
    return Shape(ruler, np.array(sums), np.array([ruler.row(part) for part in parts]))


def refusals(noise: Noise, runs: int, audits: int, level: float, seed: int) -> int:
    """How many of these pairs of samples are told from Gaussians, by rulers from samples of their own."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(audits):
        pilots, samples = ([noise(rng, size) for _ in range(2)] for size in (250, runs))
        one, two = (shape_of(sample, FittedNormal.of(pilot)) for sample, pilot in zip(samples, pilots, strict=True))
        found += unlike_gaussian((one, two), level) is not None
    return found


@pytest.mark.parametrize("runs", [250, 750, 4000])
def test_gaussians_are_called_other_as_rarely_as_stated(runs: int) -> None:
    """At ten times GATE, so that 1000 samples show it: a count above `most` has probability 1e-6."""
    most = stats.binom.isf(1e-6, 1000, 10 * GATE)
    assert refusals(lambda rng, n: rng.standard_normal(n), runs, 1000, 10 * GATE, runs) <= most


OTHERS: dict[str, tuple[Noise, int]] = {
    "logistic": (lambda rng, n: rng.logistic(size=n), 2000),
    "uniform": (lambda rng, n: rng.random(n), 500),
    "skewed": (lambda rng, n: rng.standard_gamma(20, n), 2000),
    "two humps": (lambda rng, n: rng.standard_normal(n) + rng.choice([-1.5, 1.5], n), 2000),
    "rounded": (lambda rng, n: np.round(4 * rng.standard_normal(n)), 500),
    "cut off at 3.1": (lambda rng, n: np.clip(rng.standard_normal(n), -3.1, 3.1), 8000),
    "drawn again beyond 2.8": (lambda rng, n: stats.truncnorm.rvs(-2.8, 2.8, size=n, random_state=rng), 8000),
    "one far output": (lambda rng, n: np.where(np.arange(n) == 7, 9.0, rng.standard_normal(n)), 2000),
    "an atom": (lambda rng, n: np.where(rng.random(n) < 0.01, 0.3, rng.standard_normal(n)), 4000),
    "infinite": (lambda rng, n: np.where(rng.random(n) < 0.01, np.inf, rng.standard_normal(n)), 1000),
}


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", OTHERS)
def test_other_noise_is_seen(name: str) -> None:
    """Each of 20 pairs of samples; the laws and sizes are those that some check is there for."""
    noise, runs = OTHERS[name]
    rng = np.random.default_rng(5)
    ruler = FittedNormal.of(OTHERS["logistic"][0](rng, 250) if name == "infinite" else noise(rng, 250))
    for _ in range(20):
        assert unlike_gaussian((shape_of(noise(rng, runs), ruler), shape_of(noise(rng, runs), ruler)), GATE)


def test_different_spreads_are_seen() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.standard_normal(4000), 1.2 * rng.standard_normal(4000)
    assert "variances" in str(
        unlike_gaussian((shape_of(one, FittedNormal.of(one)), shape_of(two, FittedNormal.of(two))), GATE)
    )


@pytest.mark.parametrize("n", [60, 1000, 20_000])
def test_the_scores_are_scipys(n: int) -> None:
    scores = np.random.default_rng(n).standard_t(6, n)
    assert kurtosis_score(stats.kurtosis(scores), n) == pytest.approx(stats.kurtosistest(scores).statistic)
    assert skewness_score(stats.skew(scores), n) == pytest.approx(stats.skewtest(scores).statistic)


@given(st.lists(st.floats(0.0, 50.0), min_size=1, max_size=30))
def test_merged_cells_keep_their_sums(expected: list[float]) -> None:
    counts = np.arange(len(expected), dtype=float)
    few, wanted = merged(counts, np.array(expected))
    assert few.sum() == counts.sum()
    assert wanted.sum() == pytest.approx(sum(expected))
    assert len(few) == 1 or wanted.min() >= 10 * (1 - 1e-9)


def test_the_condition_stands_beside_the_bound() -> None:
    """In the text, the page and the JSON; and nowhere once the assumption is dropped."""
    result = audit(gaussian, pair=(0.0, 1.0), guarantee=BETWEEN, assume="gdp", max_trials=20_000, alpha=1e-6)
    words = ", if the noise is Gaussian"
    for text in (repr(result), html.unescape(result._repr_html_()), html.unescape(audit_page("m", result))):
        assert f">= {result.epsilon_lower:.4g} at delta = 1e-05{words}" in text
    assert f"VIOLATED{words}" in repr(result)
    assert f"VIOLATED{words}" in audit_page("m", result)
    said = json.loads(result.to_json())
    assert said["assumes"] == result.assumes == "the noise is Gaussian"
    assert result.without is not None
    assert said["without"]["epsilon_lower"] == result.without.epsilon_lower < 4.0
    assert f">= {result.without.epsilon_lower:.4g} at delta = 1e-05, claimed 4, whatever the noise" in repr(result)
    other = measured(laplace, 2000)
    assert (other.assumes, other.without) == ("", None)
    assert words not in repr(other)


def test_the_pilot_is_looked_at_before_the_trials_are_spent() -> None:
    """Laplace noise: the rest of the trials goes into the audit that assumes nothing, which is as good as ever."""
    result = measured(laplace, 20_000)
    assert any("assume='gdp' was dropped: 1000 pilot trials" in message for message in result.health)
    assert result.method == "exact ratio test"
    assert result.trials == 20_000
    assert 0.9 < result.epsilon_lower <= 1.0


def test_what_all_trials_show_does_not_discard_them() -> None:
    """Student 12 passes the pilot here and not all trials: the event that was counted alongside gives the bound."""
    result = measured(lambda data, rng, trials: data + rng.standard_t(12, trials), 20_000)
    assert any("assume='gdp' was dropped: 19000 trials" in message for message in result.health)
    assert result.trials == 20_000
    assert result.method == "a limit on each rate"
    assert result.epsilon_lower > 1.0
    hits, others, runs = result.counts
    level = 0.1 * 0.99 * 0.05  # the share of alpha for the event, and for an audit that was not stopped
    expected = CountedEvent(result.event.choice, hits, others, runs, level).bound(stopped=False)
    assert result.epsilon_lower == expected
    assert not result.event.choice.normal


@pytest.mark.parametrize("shared", [True, False])
def test_the_event_counted_alongside_keeps_its_level(shared: bool) -> None:
    """Counts of 4000 twin (or independent) runs of a tight event, 20 to 7: a bound too high has probability 0.05.

    A count above `most` has probability 1e-6. The bug it would catch: limits at twice the level exceed in more.
    """
    rng, n = np.random.default_rng(1), 4000
    p, q = 0.2, 0.2 * math.exp(-1)
    choice = Choice(lambda rows: rows[:, 0], 0.0, True, "first", Target(0.0, 1.0), p, q, 1.0)
    high = {0.05: 0, 0.9: 0}
    for _ in range(1000):
        u = rng.random(n)
        v = 1 - u if shared else rng.random(n)  # the worst of twins: hits of one are misses of the other
        k, j = int((u < p).sum()), int((v < q).sum())
        for level in high:
            high[level] += CountedEvent(choice, k, j, n, level).bound(stopped=False) > 1.0
    most = stats.binom.isf(1e-6, 1000, 0.05)
    assert high[0.05] <= most < high[0.9]


def test_power_without_the_assumption_is_no_promise_too_many() -> None:
    """At the epsilon that a result says it detects, 20 of 20 audits do (0.99 each: fewer than 18 at 1e-3)."""
    claim = ApproxDP(1.0, 1e-2)
    asked: dict[str, Any] = {"guarantee": claim, "assume": "gdp", "max_trials": 5000, "alpha": 0.05}
    fair = audit(gaussian, pair=(0.0, 0.5), **asked).without
    assert fair is not None
    mu = next(mu for mu in np.arange(0.5, 5, 0.01) if epsilon_from_mu(mu, 1e-2) >= fair.detectable_epsilon)
    results = [audit(gaussian, pair=(0.0, float(mu)), seed=seed, **asked).without for seed in range(20)]
    assert sum(result is not None and result.violated for result in results) >= 18


RELEASES: dict[str, Any] = {
    "gaussian": gaussian,
    "response": lambda data, rng, trials: np.where(rng.random(trials) < 0.7, data, 1 - data),
    "constant": lambda data, rng, trials: np.full(trials, data),
    "same": lambda data, rng, trials: np.zeros(trials),
    "words": lambda data, rng, trials: np.array(["no", "yes"])[(rng.random(trials) < 0.3 + data / 5).astype(int)],
    "infinite": lambda data, rng, trials: np.where(rng.random(trials) < 0.05, np.inf, gaussian(data, rng, trials)),
    "rarely infinite": lambda data, rng, trials: np.where(
        rng.random(trials) < 5e-4, -np.inf, gaussian(data, rng, trials)
    ),
    "huge": lambda data, rng, trials: 1e300 * gaussian(data, rng, trials),
    "vectors": lambda data, rng, trials: np.where(rng.random((trials, 3)) < 0.01, np.inf, data),
    "late": lambda data, rng, trials: np.full(trials, data) if trials == 24 else gaussian(data, rng, trials),
}


@example("vectors", 1000, False)
@example("vectors", 60, True)
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(RELEASES)), st.integers(20, 1400), st.booleans())
def test_every_release_and_number_of_trials_gives_a_result_or_one_error(name: str, trials: int, watched: bool) -> None:
    """It was TypeError with 50 trials or fewer, ZeroDivisionError on randomised response."""
    watch = (lambda done, total, bound: None) if watched else None
    with np.errstate(all="raise", under="ignore"):
        if trials < FEWEST:
            with pytest.raises(InvalidInput, match=f"at least {FEWEST}"):
                measured(RELEASES[name], trials, progress=watch)
        else:
            result = measured(RELEASES[name], trials, progress=watch)
            assert result.epsilon_lower >= 0
            assert result.trials == trials
            assert (result.assumes != "") is (name == "gaussian") or name in ("late", "rarely infinite")


def test_what_cannot_be_done_is_refused_before_anything_runs() -> None:
    def never(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        raise AssertionError

    with pytest.raises(InvalidInput, match="stop_early"):
        measured(never, 5000, guarantee=BETWEEN, stop_early=True)
    with pytest.raises(InvalidInput, match="delta"):
        measured(never, 5000, delta=0.0)


@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
def test_the_direction_is_that_of_the_event(pair: tuple[float, float]) -> None:
    """Whichever dataset comes first: the sentence, the counts and the callable speak of the same."""
    result = measured(gaussian, 5000, pair=pair)
    rates = [result.event(gaussian(data, np.random.default_rng(3), 20_000)).mean() for data in pair]
    likelier = "first" if rates[0] > rates[1] else "second"
    hits, others, _ = result.counts
    assert result.direction == likelier
    assert hits > others
    assert f"likelier on the {likelier} dataset" in repr(result)


def test_a_checkpoint_of_a_dropped_assumption_resumes(tmp_path: Path) -> None:
    """Two pilots, each with chunks of its own."""
    whole = measured(laplace, 3000)
    for _ in range(2):
        assert measured(laplace, 3000, checkpoint=tmp_path / "kept").epsilon_lower == whole.epsilon_lower


def test_a_test_fails_on_the_assumption_only_when_asked_to_trust_it() -> None:
    asked: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": BETWEEN, "assume": "gdp", "max_trials": 20_000}
    entries: list[ledger.Entry] = []
    with ledger.running(ledger.RunningTest("test_x.py::test_y", 0, None, entries.append)):
        passed = assert_private(gaussian, **asked)
    assert not passed.violated
    assert passed.epsilon_lower < 4.0 < passed.detectable_epsilon
    assert any(message.startswith("violated only, if the noise is Gaussian") for message in passed.health)
    assert entries[0]["outcome"] == "passed"
    assert "violated only, if the noise is Gaussian" in ledger.line_of("test_y", entries, failed=False)
    assert "violated only, if the noise is Gaussian" in ledger.html_report(entries)
    with pytest.raises(PrivacyViolation, match="at delta = 1e-05, if the noise is Gaussian"):
        assert_private(gaussian, trust_assumption=True, **asked)
    with pytest.raises(PrivacyViolation):
        private(trust_assumption=True, **asked)(lambda: gaussian)()


def test_a_violation_that_needs_no_assumption_fails_anyway() -> None:
    asked: dict[str, Any] = {"assume": "gdp", "max_trials": 20_000}
    with pytest.raises(PrivacyViolation) as caught:
        assert_private(gaussian, pair=(0.0, 3.0), guarantee=GaussianDP(1.0), **asked)
    assert caught.value.result.assumes == ""
    with pytest.raises(PrivacyViolation, match="was dropped"):
        assert_private(laplace, pair=(0.0, 3.0), guarantee=ApproxDP(1.0, DELTA), **asked)


def test_a_hint_names_the_assumption_where_it_would_help() -> None:
    asked: dict[str, Any] = {"pair": (0.0, 1.0), "max_trials": 20_000}
    assert "assume='gdp'" in repr(audit(gaussian, guarantee=BETWEEN, **asked))
    assert "assume='gdp'" not in repr(audit(laplace, guarantee=ApproxDP(1.0, DELTA), **asked))
    assert "assume='gdp'" not in repr(audit(gaussian, guarantee=PureDP(4.0), **asked))
