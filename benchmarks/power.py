"""Is what an audit says that it would have caught, caught? Audits of tight mechanisms say `detectable_epsilon`; audits
of the mechanism of the same family whose true epsilon is exactly that are to flag it, 99 times in 100.

Run: python -m benchmarks.power [--audits 300] [--executor processes:2] [--only laplace]
All rows, which go into docs/validity.md, take about half an hour on 2 cores; some rows alone take their places there.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from benchmarks.executors import add_executor
from benchmarks.pages import write_rows, write_section
from benchmarks.strength import SparseVector
from dpcheck.audits import audit
from dpcheck.audits.trials.spreading import in_order, opened
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP

Rng = np.random.Generator
ALPHA = 0.05
AT_CLAIM, BEYOND = 10**6, 2 * 10**6  # where the seeds of either kind of audit begin


@dataclass(frozen=True)
class Added:
    """Noise of this name added to every coordinate of the data."""

    noise: str
    shape: float | None = None

    def __call__(self, data: Any, rng: Rng, trials: int) -> np.ndarray:
        draw = getattr(rng, self.noise)
        size = (trials, *np.shape(data))
        return data + (draw(size=size) if self.shape is None else draw(self.shape, size=size))


def geometric(data: tuple[int, float], rng: Rng, trials: int) -> np.ndarray:
    """A count with two-sided geometric noise at this epsilon."""
    count, eps = data
    one, two = rng.geometric(-math.expm1(-eps), size=(2, trials))
    return count + one - two


def response(data: tuple[int, float, int], rng: Rng, trials: int) -> np.ndarray:
    """Randomised response among some values at this epsilon."""
    value, eps, values = data
    truth = rng.random(trials) < math.exp(eps) / (math.exp(eps) + values - 1)
    return np.where(truth, value, (value + rng.integers(1, values, size=trials)) % values)


def leaky_response(data: tuple[int, float], rng: Rng, trials: int) -> np.ndarray:
    """Randomised response of a bit that says so (2 or 3) when, one time in a hundred, it tells the bit for certain."""
    bit, eps = data
    said = np.where(rng.random(trials) < special.expit(eps), bit, 1 - bit)
    return np.where(rng.random(trials) < LEAK, 2 + bit, said)


def noisy_max(scores: np.ndarray, rng: Rng, trials: int) -> np.ndarray:
    """The exponential mechanism, by Gumbel noise."""
    return (scores + rng.gumbel(size=(trials, len(scores)))).argmax(axis=1)


def named_max(scores: np.ndarray, rng: Rng, trials: int) -> list[dict[str, str]]:
    """The same, saying the winner's name in a dictionary."""
    return [{"winner": f"candidate {winner}"} for winner in noisy_max(scores, rng, trials)]


def named_count(data: float, rng: Rng, trials: int) -> list[dict[str, float]]:
    """A noisy count in a dictionary."""
    return [{"count": value} for value in data + rng.laplace(size=trials)]


def sampled(data: tuple[int, float], rng: Rng, trials: int) -> np.ndarray:
    """Laplace noise on a record that is looked at half of the time."""
    record, shift = data
    return record * shift * (rng.random(trials) < 0.5) + rng.laplace(size=trials)


def discrete_gaussian(data: tuple[int, float], rng: Rng, trials: int) -> np.ndarray:
    count, sigma = data
    support, law = discrete_law(sigma)
    return count + rng.choice(support, size=trials, p=law)


def sparse_vector(data: tuple[np.ndarray, float], rng: Rng, trials: int) -> np.ndarray:
    queries, scale = data
    return SparseVector(scale, scale, 2)(queries, rng, trials)


# Pairs of exactly this epsilon at this delta ------------------------------------------------------------------
Pairs = Callable[[float, float], tuple[Any, Any]]
LEAK = 0.01
QUERIES = (np.zeros(4), np.array([1.0, 1.0, -1.0, -1.0]))


def moved(width: int) -> Pairs:
    """Laplace noise on this many coordinates, each moved by its part of epsilon."""
    return lambda eps, _: (0.0, eps) if width == 1 else (np.zeros(width), np.full(width, eps / width))


def gaussians(width: int) -> Pairs:
    """Unit Gaussians at this epsilon, along the diagonal."""

    def pair(eps: float, delta: float) -> tuple[Any, Any]:
        mu = mu_of(eps, delta)
        return (0.0, mu) if width == 1 else (np.zeros(width), np.full(width, mu / math.sqrt(width)))

    return pair


@cache
def mu_of(eps: float, delta: float) -> float:
    return float(optimize.brentq(lambda mu: float(GaussianDP(mu).profile(eps)) - delta, 1e-3, 60.0, xtol=1e-12))


def students(freedom: float) -> Pairs:
    """Student noise, Cauchy's for one degree of freedom: 1 + x^2/v against 1 + (x - s)^2/v is largest where
    x = (s + sqrt(s^2 + 4 v)) / 2."""

    def loss(s: float) -> float:
        x = (s + math.sqrt(s * s + 4 * freedom)) / 2
        return (freedom + 1) / 2 * math.log((1 + x * x / freedom) / (1 + (x - s) ** 2 / freedom))

    return lambda eps, _: (0.0, float(optimize.brentq(lambda s: loss(s) - eps, 1e-6, 1e6)))


def rivals(eps: float, _: float) -> tuple[Any, Any]:
    """Scores of five whose winner changes: both normalisers agree, so the lead is epsilon."""
    return np.array([eps, 0.0, 0.0, 0.0, 0.0]), np.array([0.0, eps, 0.0, 0.0, 0.0])


def responses(values: int) -> Pairs:
    return lambda eps, _: ((0, eps, values), (1, eps, values))


def sampled_pair(eps: float, _: float) -> tuple[Any, Any]:
    """Half of e^shift and half of 1 is e^eps, the ratio beyond the shift; below 0 it is less far from 1."""
    shift = math.log(2 * math.exp(eps) - 1)
    return (0, shift), (1, shift)


def discrete_law(sigma: float) -> tuple[np.ndarray, np.ndarray]:
    support = np.arange(-60, 61)
    law = np.exp(-(support**2) / (2 * sigma**2))
    return support, law / law.sum()


@cache
def discrete_pair(eps: float, delta: float) -> tuple[Any, Any]:
    """The law against itself moved by one."""

    def excess(sigma: float) -> float:
        law = discrete_law(sigma)[1]
        p, q = np.append(law, 0.0), np.insert(law, 0, 0.0)
        return float(np.maximum(p - math.exp(eps) * q, 0).sum()) - delta

    sigma = float(optimize.brentq(excess, 0.15, 12.0, xtol=1e-10))
    return (0, sigma), (1, sigma)


@cache
def vector_pair(eps: float, _: float) -> tuple[Any, Any]:
    """Both scales of the noise, by the largest ratio of the probabilities of one output."""

    def loss(scale: float) -> float:
        one, two = (np.array([*SparseVector(scale, scale, 2).probabilities(data).values()]) for data in QUERIES)
        return float(np.abs(np.log(one / two)).max())

    scale = float(optimize.brentq(lambda scale: loss(scale) - eps, 0.2, 20.0, xtol=1e-6))
    return (QUERIES[0], scale), (QUERIES[1], scale)


# Families ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Family:
    """A mechanism, its pair by epsilon and delta, a claim that its pair at epsilon `tight` just keeps, and an audit.

    A claim without a delta of its own is just kept by the pair at (tight, delta).
    """

    mechanism: Callable[..., Any]
    pair: Pairs
    claim: Guarantee
    trials: int
    options: dict[str, Any] = field(default_factory=dict)
    tight: float = 1.0
    delta: float = 0.0


def families() -> dict[str, Family]:
    """Every row of the table."""
    pure, approximate = PureDP(1.0), ApproxDP(1.0, 1e-5)
    laplace, normal = Added("laplace"), Added("standard_normal")
    early = {"stop_early": True}
    mu = mu_of(1.0, 1e-5)
    claims: dict[str, Any] = {"delta": 1e-5}
    return {
        "Laplace": Family(laplace, moved(1), pure, 5000),
        "randomised response": Family(response, responses(2), pure, 5000),
        "Cauchy": Family(Added("standard_cauchy"), students(1), pure, 5000),
        "Student, 3 degrees of freedom": Family(Added("standard_t", 3), students(3), pure, 5000),
        "Laplace, 2 coordinates": Family(laplace, moved(2), pure, 2000),
        "Laplace, 10 coordinates": Family(laplace, moved(10), pure, 5000),
        "Gaussian": Family(normal, gaussians(1), approximate, 5000, **claims),
        "exponential mechanism": Family(noisy_max, rivals, pure, 5000),
        "geometric": Family(geometric, lambda eps, _: ((0, eps), (1, eps)), pure, 5000),
        "response with a leak, delta 0.01": Family(
            leaky_response, lambda eps, _: ((0, eps), (1, eps)), ApproxDP(1.0, LEAK), 5000, delta=LEAK
        ),
        # Constants were tried on the rows above, at other seeds, and on none of those that follow.
        "Laplace, 100 coordinates": Family(laplace, moved(100), pure, 5000),
        "Laplace, 100,000 trials": Family(laplace, moved(1), pure, 100_000),
        "Cauchy, 50,000 trials": Family(Added("standard_cauchy"), students(1), pure, 50_000),
        "Student, 5 degrees of freedom": Family(Added("standard_t", 5), students(5), pure, 10_000),
        "logistic": Family(Added("logistic"), moved(1), pure, 5000),
        "subsampled Laplace": Family(sampled, sampled_pair, pure, 5000),
        "randomised response of 10 values": Family(response, responses(10), pure, 5000),
        "exponential mechanism, in a dictionary": Family(named_max, rivals, pure, 5000),
        "Laplace, in a dictionary": Family(named_count, moved(1), pure, 5000),
        "sparse vector": Family(sparse_vector, vector_pair, pure, 5000),
        "discrete Gaussian, delta 0.001": Family(
            discrete_gaussian, discrete_pair, ApproxDP(1.0, 1e-3), 10_000, delta=1e-3
        ),
        "Gaussian, 10 coordinates": Family(normal, gaussians(10), approximate, 5000, **claims),
        "Gaussian, 100 coordinates": Family(normal, gaussians(100), approximate, 10_000, **claims),
        "Gaussian, zCDP": Family(normal, gaussians(1), ZCDP(mu**2 / 2), 5000, **claims),
        "Gaussian, GDP": Family(normal, gaussians(1), GaussianDP(mu), 5000, **claims),
        "Gaussian, assume gdp": Family(normal, gaussians(1), approximate, 5000, {"assume": "gdp"}, **claims),
        "Gaussian, 10 coordinates, assume gdp": Family(
            normal, gaussians(10), approximate, 5000, {"assume": "gdp"}, **claims
        ),
        "Laplace, stop early": Family(laplace, moved(1), pure, 1000, early),
        "Cauchy, stop early": Family(Added("standard_cauchy"), students(1), pure, 2000, early),
        "Laplace, 2 coordinates, stop early": Family(laplace, moved(2), pure, 2000, early),
        "Gaussian, stop early": Family(normal, gaussians(1), approximate, 2000, early, **claims),
    }


@dataclass(frozen=True)
class Outcome:
    """What an audit at the claim said, and whether an audit beyond it flagged (None: there was nothing to check)."""

    said: float
    model: str
    flagged: bool | None


def one(name: str, seed: int) -> Outcome:
    """An audit of the tight member; if it names a number, one of the member of that epsilon."""
    family = families()[name]
    asked: dict[str, Any] = {"guarantee": family.claim, "max_trials": family.trials, "alpha": ALPHA, **family.options}
    try:
        tight = audit(family.mechanism, pair=family.pair(family.tight, family.delta), seed=AT_CLAIM + seed, **asked)
    except InvalidInput as refused:
        return Outcome(math.inf, f"refused: {refused.args[0]}", None)
    said = tight.detectable_epsilon
    if math.isinf(said):
        return Outcome(said, tight.power, None)
    try:
        worse = audit(family.mechanism, pair=family.pair(said, tight.delta), seed=BEYOND + seed, **asked)
    except InvalidInput:
        return Outcome(said, tight.power, False)
    return Outcome(said, tight.power, worse.violated)


HEAD = """\
## Power, measured

An audit that passes says which epsilon it would have flagged with probability 0.99, or that it cannot say. Each row:
{audits} audits (alpha = {alpha}) of a mechanism that just keeps its claim of epsilon 1; after each that named a number,
an audit, by a fresh seed, of the mechanism of the same family whose true epsilon is exactly that number. `flagged` must
be 99% or more; a row whose true rate is 99% shows less than {least:.1%} with probability 0.005 at most. The models'
constants were tried on the families down to the response with a leak, and not on those below it.

Rerun: `python -m benchmarks.power`

| family | trials | a number named | median | flagged | the model, or why there is no number |
|---|---|---|---|---|---|
"""


def row(name: str, outcomes: list[Outcome]) -> str:
    """A row of the table; the model is the one most often named."""
    named = [outcome for outcome in outcomes if outcome.flagged is not None]
    caught = sum(bool(outcome.flagged) for outcome in named)
    model = Counter(_kind(outcome.model) for outcome in named or outcomes).most_common(1)[0][0]
    median = f"{np.median([outcome.said for outcome in named]):.3g}" if named else ""
    flagged = f"{caught} of {len(named)} ({caught / len(named):.1%})" if named else ""
    share = f"{len(named)} of {len(outcomes)}"
    return f"| {name} | {families()[name].trials} | {share} | {median} | {flagged} | {model} |"


def _kind(model: str) -> str:
    """Without the numbers that differ from audit to audit."""
    return " ".join(word for word in model.split() if not any(c.isdigit() for c in word))


def measured(audits: int, executor: Any = 2, only: str = "") -> list[str]:
    """The rows of the table."""
    rows = []
    for name in families():
        if only.lower() in name.lower():
            rows.append(row(name, in_order(partial(one, name), range(audits), executor)))
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=300)
    add_executor(parser)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    with opened(given.executor) as executor:
        rows = measured(given.audits, executor, given.only)
    if given.only:
        write_rows("validity.md", "power", rows, f"{given.audits} audits (alpha")
        return
    least = stats.binom.ppf(0.005, given.audits, 0.99) / given.audits
    head = HEAD.format(audits=given.audits, alpha=ALPHA, least=least)
    write_section("validity.md", "power", head + "\n".join(rows))


if __name__ == "__main__":
    main()
