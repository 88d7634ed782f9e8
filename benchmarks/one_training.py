"""How strong and how valid the bounds of `audit_training` are: simulated trainings with canaries at a known epsilon.

Run: python -m benchmarks.one_training [--audits 2000] [--rows "Gaussian 4, 100" overlapping ...]
The tables go into docs/validity.md, each row in place of the last one of its name.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy import optimize, special, stats

from benchmarks.pages import DOCS, write_rows, write_section
from dpcheck.audits.training.canary_bounds import (
    CanaryBound,
    CoinScores,
    Question,
    from_any,
    from_curve,
    from_mean_gap,
    from_separate,
)
from dpcheck.audits.training.curves import gaussian_mu
from dpcheck.bounds.language.guarantees import GaussianDP, gaussian_delta, smallest_epsilon

DELTA, ALPHA = 1e-5, 0.05
NAME = "one training"
COUNTED = "simulated trainings"
SECTION = f"""\
## One training run with canaries

Each row: {COUNTED} of canaries with a known epsilon at delta = {DELTA:g}, audited at alpha = {ALPHA:g}; four bounds,
by what they assume, with their mean (of those not refused) and the share above the truth, where {100 * ALPHA:g}% are
allowed.
"Gaussian" rows release the sum of gradients at right angles with Gaussian noise, for epsilon 1, 4 and 8. Then: three
runs, pooled; 1000 gradients in 500 dimensions, so that each covers others; canaries that are all shown, as by the
Gaussian for epsilon 4, in one training of ten, and else not at all (no curve of a Gaussian holds for that but the same,
so that epsilon 4 is the truth of the last three columns). Where gradients overlap, `audit_training` refuses the last
two bounds; here they are shown all the same.

Rerun: `python -m benchmarks.one_training`

| row | canaries | trainings | true epsilon | any: mean, above | curve: mean, above | separate: mean, above | \
mean gap: mean, above |
|---|---|---|---|---|---|---|---|
"""

Draw = Callable[[np.random.Generator], CoinScores]


@dataclass(frozen=True)
class Row:
    """A kind of training: how its scores are drawn, and its epsilon, for any mechanism and by the curve declared."""

    canaries: int
    draw: Draw
    truth: float
    truth_of_curve: float


def right_angles(rng: np.random.Generator, mu: float, m: int, runs: int = 1) -> CoinScores:
    coins = rng.random((runs, m)) < 0.5
    return CoinScores(mu * coins + rng.standard_normal((runs, m)) + 10 * rng.standard_normal((runs, 1)), coins)


@cache
def directions(m: int, width: int) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((m, width))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def overlapping(rng: np.random.Generator, mu: float, m: int, width: int) -> CoinScores:
    """Sum of unit gradients, noise of 1 / mu, scores by the dot product."""
    coins, rows = rng.random(m) < 0.5, directions(m, width)
    update = coins @ rows + rng.standard_normal(width) / mu
    return CoinScores((rows @ update)[None], coins[None])


def shown_at_once(rng: np.random.Generator, mu: float, m: int, often: float) -> CoinScores:
    return right_angles(rng, mu if rng.random() < often else 0.0, m)


def rows() -> dict[str, Row]:
    """By name."""
    found = {}
    for eps in (1.0, 4.0, 8.0):
        mu = float(gaussian_mu(np.array([eps]), DELTA)[0])
        for m in (100, 1000, 10_000):
            found[f"Gaussian {eps:g}, {m}"] = Row(m, partial(right_angles, mu=mu, m=m), eps, eps)
    mu = float(gaussian_mu(np.array([4.0]), DELTA)[0])
    found["three runs"] = Row(999, partial(right_angles, mu=mu, m=333, runs=3), 4.0, 4.0)
    found["overlapping"] = Row(1000, partial(overlapping, mu=mu, m=1000, width=500), 4.0, 4.0)
    often = 0.1
    shown = smallest_epsilon(lambda e: often * float(gaussian_delta(e, mu)), DELTA)
    found["all at once"] = Row(1000, partial(shown_at_once, mu=mu, m=1000, often=often), shown, 4.0)
    return found


SEEN = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25)  # how often a limit's mechanism may be told from the Gaussian


def no_median_above(eps: float, m: int, delta: float = DELTA, alpha: float = ALPHA) -> float:
    """What the median of no valid bound under a Gaussian's curve passes, if m canaries may interfere.

    A mechanism shows Gaussian scores of this epsilon with probability w, and else nothing; losses above c are shown as
    c. All together m scores lie there with probability at most `seen`: so rarely it differs from the Gaussian itself. A
    smaller curve that this mechanism has is rejected with probability at most alpha, thus from Gaussian scores at most
    alpha / w + seen, which is a half for w = alpha / (1/2 - seen).
    """
    mu = float(gaussian_mu(np.array([eps]), delta)[0])
    return min(_limit(mu, m, seen, delta, alpha / (0.5 - seen)) for seen in SEEN)


def _limit(mu: float, m: int, seen: float, delta: float, w: float) -> float:
    """The least epsilon whose Gaussian curve this mechanism has."""

    def beyond(score: float) -> float:
        return float(stats.norm.sf(score - mu / 2) + stats.norm.sf(score + mu / 2))

    end = float(optimize.brentq(lambda score: beyond(score) - seen / m, 0.0, 40.0))
    losses = np.linspace(0, mu * end, 2000)
    inside = stats.norm.cdf([end - mu / 2, end + mu / 2])[:, None] - stats.norm.cdf(
        losses / mu - np.array([[mu / 2], [-mu / 2]])
    )
    right = special.expit(mu * end) - np.exp(losses) * special.expit(-mu * end)  # of those that are shown as c
    needed = w * (inside[0] - np.exp(losses) * inside[1] + seen / m * right)

    def lacks(eps: float) -> bool:
        return bool(np.any(gaussian_delta(losses, float(gaussian_mu(np.array([eps]), delta)[0])) < needed))

    low, high = 0.0, 40.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if lacks(middle) else (low, middle)
    return high


def bounds_of(seen: CoinScores, asked: Question, known: dict[int, CanaryBound]) -> list[float]:
    """All four; the third is a function of one count, so that it need not be worked out twice."""
    right = seen.right()
    if (count := int(right[-1])) not in known:
        known[count] = from_separate(right, asked)
    bounds = (from_any(right, asked), from_curve(right, asked), known[count], from_mean_gap(seen, asked))
    return [math.nan if bound.refused else bound.epsilon for bound in bounds]


def measured(name: str, row: Row, audits: int) -> str:
    """A row of the table."""
    rng, known = np.random.default_rng(np.random.SeedSequence([1, *name.encode()])), dict[int, CanaryBound]()
    asked = Question(row.canaries, DELTA, ALPHA, GaussianDP(1.0))
    found = np.array([bounds_of(row.draw(rng), asked, known) for _ in range(audits)])
    truths = np.array([row.truth, *[row.truth_of_curve] * 3])
    above = (found > truths).mean(axis=0)
    cells = [f"{mean:.2f}, {100 * share:.1f}%" for mean, share in zip(np.nanmean(found, axis=0), above, strict=True)]
    return f"| {name} | {row.canaries} | {audits} | {row.truth:.3g} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=2000)
    parser.add_argument("--rows", nargs="*", help="their names; all by default")
    options = parser.parse_args()
    every = rows()
    if f"<!-- {NAME} -->" not in (DOCS / "validity.md").read_text():
        write_section("validity.md", NAME, SECTION)
    limit = stats.binom.isf(1e-6, options.audits, ALPHA) / options.audits
    print(f"a share above {100 * limit:.1f}% has probability 1e-6")
    for name in options.rows or every:
        line = measured(name, every[name], options.audits)
        print(line, flush=True)
        write_rows("validity.md", NAME, [line], COUNTED)


if __name__ == "__main__":
    main()
