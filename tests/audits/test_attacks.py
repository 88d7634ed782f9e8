"""Known densities: no attack does better, wrong ones never lie, and a mechanism's own density joins `auto`.

Audits have fixed seeds and a false-alarm rate of 1e-6 each, beside the violations that they flag.
"""

from __future__ import annotations

import math
import pickle
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from dpcheck.audits import AuditResult, audit, likelihood_ratio
from dpcheck.audits.scores.attacks import Given, aimed
from dpcheck.audits.statistics.known_events import believable, prospect_of_known
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP

ALPHA = 1e-6


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def laplace_density(outputs: np.ndarray, data: float) -> np.ndarray:
    return -np.abs(outputs - data)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def gaussian_density(outputs: np.ndarray, data: float) -> np.ndarray:
    return -((outputs - data) ** 2) / 2


def response(bit: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    return np.where(rng.random(trials) < special.expit(1.0), bit, 1 - bit)


def response_density(outputs: np.ndarray, bit: int) -> np.ndarray:
    return np.log(np.where(outputs == bit, special.expit(1.0), special.expit(-1.0)))


ANGLES = np.pi * np.arange(24) / 12
CIRCLE = 4.0 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


@dataclass(frozen=True)
class Beads:
    """Laplace noise about the even or about the odd ones of 24 points on a circle: no coordinate says much."""

    scale: float = 0.5

    @property
    def epsilon(self) -> float:
        """At most this: moving each point to its neighbour changes its density by this factor."""
        return float(np.abs(CIRCLE - np.roll(CIRCLE, 1, axis=0)).sum(axis=1).max()) / self.scale

    def __call__(self, bit: int, rng: np.random.Generator, trials: int) -> np.ndarray:
        centres = CIRCLE[bit::2]
        return centres[rng.integers(len(centres), size=trials)] + rng.laplace(scale=self.scale, size=(trials, 2))

    def log_density(self, outputs: np.ndarray, bit: int) -> np.ndarray:
        distances = np.abs(outputs[:, None] - CIRCLE[bit::2]).sum(axis=2)
        return special.logsumexp(-distances / self.scale, axis=1)


def run(mechanism: Any, pair: Any, guarantee: Guarantee | None, attack: Any, **more: Any) -> AuditResult:
    """Aimed at the pair here, so that every mode is attacked alike."""
    asked = {"max_trials": 20_000, "alpha": ALPHA, **more}
    return audit(mechanism, pair=pair, guarantee=guarantee, attack=aimed(attack, mechanism, pair), **asked)


SIMPLE = {
    "laplace": (laplace, laplace_density, (0.0, 1.0), PureDP(1.0), (0.0, 1.5)),
    "gaussian": (gaussian, gaussian_density, (0.0, 1.0), ApproxDP(2.4, 1e-2), (0.0, 2.0)),
    "response": (response, response_density, (0, 1), PureDP(1.0), None),
}


@pytest.mark.parametrize("name", SIMPLE)
def test_known_densities_reach_what_auto_reaches(name: str) -> None:
    """Bounds at alpha = 0.05 over seeds, up to 1% and three standard errors (thresholds are luck); the planted bug."""
    mechanism, density, pair, guarantee, worse = SIMPLE[name]
    known, auto = (
        np.array([run(mechanism, pair, guarantee, attack, alpha=0.05, seed=s).epsilon_lower for s in range(12)])
        for attack in (likelihood_ratio(density), "auto")
    )
    ahead = known - 0.99 * auto
    assert ahead.mean() >= -3 * ahead.std() / len(ahead) ** 0.5
    passed = run(mechanism, pair, guarantee, likelihood_ratio(density))
    assert not passed.violated
    assert density.__name__ in str(passed.event)
    if worse is not None:
        assert run(mechanism, worse, guarantee, likelihood_ratio(density)).violated
    else:
        assert run(mechanism, pair, PureDP(0.8), likelihood_ratio(density)).violated


def test_known_densities_win_where_nothing_simple_tells_the_datasets_apart() -> None:
    """A mixture of twelve against a mixture of twelve, between them: on average, far more than noise."""
    fair = Beads()
    attack = likelihood_ratio(fair.log_density)
    known = np.mean([run(fair, (0, 1), None, attack, alpha=0.05, seed=s).epsilon_lower for s in range(8)])
    auto = np.mean([run(fair.__call__, (0, 1), None, "auto", alpha=0.05, seed=s).epsilon_lower for s in range(8)])
    assert known > 1.25 * auto
    # Planted: a third of the noise. The density of the claim still shows it, and blames no mechanism that keeps it.
    claim = PureDP(fair.epsilon)
    assert not run(fair, (0, 1), claim, attack).violated
    assert run(Beads(scale=fair.scale / 3), (0, 1), claim, attack).violated


def test_auto_takes_the_mechanisms_own_density() -> None:
    """In every mode that chooses an event; a plain function of the same law has none."""
    fair, broken = Beads(), Beads(scale=0.2)
    assert "log_density" in str(run(fair, (0, 1), None, "auto").event)
    assert "log_density" not in str(run(fair.__call__, (0, 1), None, "auto").event)
    early: dict[str, Any] = {"pair": (0, 1), "guarantee": PureDP(fair.epsilon), "stop_early": True, "alpha": ALPHA}
    found = audit(broken, max_trials=4000, **early)
    assert found.violated
    assert "log_density" in str(found.event)
    assert not audit(fair, max_trials=1000, attack="likelihood_ratio", **early).violated
    with pytest.raises(InvalidInput, match="log_density"):
        audit(laplace, max_trials=1000, attack="likelihood_ratio", **early)


def test_a_lie_in_the_mechanisms_density_hides_nothing_simple() -> None:
    """`auto` keeps its other attacks: a density that sees no difference does not blind it."""

    class Lying:
        def __call__(self, data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
            return laplace(data, rng, trials)

        def log_density(self, outputs: np.ndarray, data: float) -> np.ndarray:
            return np.zeros(len(outputs))

    assert run(Lying(), (0.0, 2.0), PureDP(1.0), "auto").violated


def test_wrong_densities_raise_no_alarm() -> None:
    """False-alarm rate 1e-6 each."""
    wrong = {
        "far too sharp": lambda outputs, data: -50 * np.abs(outputs - data),
        "the other way": lambda outputs, data: np.abs(outputs - data),
        "noise": lambda outputs, data: np.sin(1e4 * outputs + data),
    }
    for density in wrong.values():
        assert not run(laplace, (0.0, 1.0), PureDP(1.0), likelihood_ratio(density)).violated


def test_a_density_is_believed_only_as_long_as_the_runs_agree() -> None:
    """Believed in 200 pilots of 2000 runs (false alarms 6e-5 each, two checks); a wrong scale or side is not."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scores = [likelihood_ratio(laplace_density).on((0.0, 1.0))(laplace(x, rng, 1000)[:, None]) for x in (0.0, 1.0)]
        assert believable(*scores)
        assert not believable(*scores[::-1])
        assert not believable(*(2 * side for side in scores))
    assert believable(np.zeros(50), np.zeros(50))
    assert believable(np.full(50, 1e6), np.full(50, -1e6))


def test_a_known_density_places_the_event() -> None:
    """Rates by the density are those of a large fresh sample, in the tail too, where the pilot saw a few runs."""
    fair, rng = Beads(), np.random.default_rng(1)
    score = likelihood_ratio(fair.log_density).on((0, 1))
    pilot = [score(fair(bit, rng, 2000)) for bit in (0, 1)]
    large = [score(fair(bit, rng, 200_000)) for bit in (0, 1)]
    prospect = prospect_of_known(score, *pilot)
    for above, direction, p, q in prospect.events:
        place = int(np.abs(p - 0.03).argmin())
        inside = [np.mean(side >= prospect.thresholds[place]) for side in large]
        real, other = inside if direction == "first" else (1 - inside[1], 1 - inside[0])
        assert above == (direction == "first")
        assert math.log(p[place] / q[place]) == pytest.approx(math.log(real / other), abs=0.15)


def test_scipy_laws() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 2))
    normal = likelihood_ratio(law=lambda data: stats.norm(data, 1.0)).on((0.0, 1.0))
    assert normal(rows[:, :1]) == pytest.approx(0.5 - rows[:, 0], abs=1e-8)
    together = likelihood_ratio(law=lambda data: stats.multivariate_normal([data, 0.0])).on((0.0, 1.0))
    assert together(rows) == pytest.approx(0.5 - rows[:, 0], abs=1e-8)
    apart = likelihood_ratio(law=lambda data: stats.norm([data, 0.0], 1.0)).on((0.0, 1.0))
    assert apart(rows) == pytest.approx(0.5 - rows[:, 0], abs=1e-8)
    coin = likelihood_ratio(law=stats.bernoulli).on((0.8, 0.4))
    assert coin(np.array([[1.0], [0.0]])) == pytest.approx([math.log(2), math.log(0.2 / 0.6)], abs=1e-8)
    with pytest.raises(InvalidInput, match="logpdf or logpmf"):
        likelihood_ratio(law=lambda data: data).on((0, 1))(rows)


def test_certainty_is_a_number() -> None:
    """Uniform on [0, 1] or on [0.5, 1.5]: outputs that only one dataset gives, that both give, that none gives."""

    def density(outputs: np.ndarray, data: float) -> np.ndarray:
        return np.where((outputs >= data) & (outputs <= data + 1), 0.0, -np.inf)

    score = likelihood_ratio(density).on((0.0, 0.5))
    found = score(np.array([[0.2], [0.7], [1.2], [9.0]]))
    assert found.tolist() == [1e6, 0.0, -1e6, 0.0]

    def uniform(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return data + rng.random(trials)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(uniform, (0.0, 0.5), PureDP(5.0), likelihood_ratio(density)).violated
        assert run(uniform, (0.0, 0.5), PureDP(5.0), lambda x: np.where(x < 0.5, np.inf, 0.0)).violated
    assert np.isfinite(Given(lambda x: np.full(len(x), np.inf))(np.zeros((3, 1)))).all()


def test_scores_travel_and_describe_themselves() -> None:
    score = likelihood_ratio(laplace_density).on((0.0, 1.0))
    again = pickle.loads(pickle.dumps(score))
    rows = np.linspace(-3, 3, 20)[:, None]
    assert np.array_equal(again(rows), score(rows))
    law = pickle.loads(pickle.dumps(likelihood_ratio(law=stats.norm))).on((0.0, 1.0))
    assert law(rows) == pytest.approx(0.5 - rows[:, 0], abs=1e-8)
    assert str(score) == "log-likelihood ratio of the output by laplace_density"
    assert "its density" in str(likelihood_ratio(lambda outputs, data: outputs).on((0, 1)))
    # Equally telling outputs score the same, whatever the rounding of their densities.
    assert len(np.unique(score(-np.random.default_rng(0).exponential(size=(1000, 1))))) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda outputs, data: np.full(len(outputs), np.nan),
        lambda outputs, data: np.zeros(3),
        lambda outputs, data: np.zeros((len(outputs), 1)),
        lambda outputs, data: 0.0,
    ],
)
def test_bad_densities_are_refused(wrong: Any) -> None:
    for mode in ({}, {"stop_early": True}):
        with pytest.raises(InvalidInput, match="log density"):
            run(laplace, (0.0, 1.0), PureDP(1.0), likelihood_ratio(wrong), max_trials=100, **mode)


def test_bad_arguments_are_refused() -> None:
    for bad in ({}, {"log_density": laplace_density, "law": stats.norm}, {"log_density": 3}, {"law": "norm"}):
        with pytest.raises(InvalidInput):
            likelihood_ratio(**bad)


def test_gdp_uses_the_score_it_is_given() -> None:
    """Three coordinates, of which the given score reads the one that differs; a wrong score proves less."""

    def vectors(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return np.array([data, 0.0, 0.0]) + rng.standard_normal((trials, 3))

    asked: dict[str, Any] = {"assume": "gdp", "delta": 1e-5, "alpha": 0.05}
    best = run(vectors, (0.0, 1.0), None, lambda rows: rows[:, 0], **asked)
    other = run(vectors, (0.0, 1.0), None, lambda rows: rows[:, 0] + rows[:, 1], **asked)
    known = run(vectors, (0.0, 1.0), None, likelihood_ratio(law=lambda data: stats.norm([data, 0, 0], 1)), **asked)
    assert "<lambda>(output)" in str(best.event)
    assert other.epsilon_lower < 0.8 * best.epsilon_lower
    assert known.epsilon_lower == pytest.approx(best.epsilon_lower, rel=1e-6)


@pytest.mark.parametrize("attack", ["auto", "coordinates", "projections", "histogram", "learned"])
def test_outputs_without_noise_raise_no_warning(attack: str) -> None:
    """Constant vectors, alone and with noise far below their size; warnings are errors here."""

    def constant(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return np.full((trials, 2), data)

    def nearly(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        return constant(data, rng, trials) + 1e-200 * rng.standard_normal((trials, 2))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mechanism in (constant, nearly):
            assert run(mechanism, (0.0, 1.0), PureDP(1.0), attack, max_trials=400, alpha=0.05).violated
