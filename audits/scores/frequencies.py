"""Fine structure of one column: its phase within a period that only one dataset has, and narrow cells.

A comb of hundreds of teeth is invisible to a few dozen cells. A line in the difference of the empirical characteristic
functions gives its period; structure without a period is left to as many cells as the runs give evidence for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpcheck.audits.scores.tables import WEIGHTS

MOST_COLUMNS = 64
CELLS = 2**15  # of the histogram that is transformed: periods down to two of them
PADDING = 4  # values of the transform for each cycle over the range: a peak between two of them is still seen
BLOCK = 64  # cycles over the range among which a line must stand out; fewer cycles need no transform
SURE = 10.0  # a line that chance alone makes in one audit of e to this many
DIVISORS = range(2, 17)
EXACT = 2.0**53  # integers of which floats know the last digit
FINEST = 2**13  # cells of a histogram
FEWEST = 4  # runs of both datasets in a cell


@dataclass(frozen=True)
class Phase:
    """Where one column lies within a period, between 0 and 1."""

    column: int
    period: float
    only: bool = True

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # infinite outputs have no phase
            return np.nan_to_num(np.mod(rows[:, self.column] / self.period, 1.0), nan=0.0)

    def phrase(self, name: Callable[[int], str]) -> str:
        """In words, with name(j) for column j."""
        return f"{name(self.column)} modulo {self.period:.10g}, as a share of it"


def periods(first: np.ndarray, second: np.ndarray) -> list[Phase]:
    """The columns with a period that only one dataset has, or has at another phase; the clearest first."""
    found = []
    for j in range(min(first.shape[1], MOST_COLUMNS)):
        clarity, period = max(line(first[:, j], second[:, j]), remainder(first[:, j], second[:, j]))
        if clarity > 0:
            found.append((clarity, Phase(j, period, first.shape[1] == 1)))
    return [phase for _, phase in sorted(found, key=lambda pair: -pair[0])]


def remainder(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The same of what is left when integers are divided by a small number: flags and check digits live there."""
    for side in (first, second):
        if not (np.abs(side) < EXACT).all() or (side != np.rint(side)).any():
            return 0.0, 1.0
    found = []
    for divisor in DIVISORS:
        counts = np.array([np.bincount((side % divisor).astype(int), minlength=divisor) for side in (first, second)])
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        apart = float(((counts - expected) ** 2 / np.maximum(expected, 1.0)).sum())
        with np.errstate(divide="ignore"):  # surer than a double can say
            sure = -float(np.log(special.chdtrc(divisor - 1, apart)))
        found.append((sure - np.log(len(DIVISORS)) - SURE, float(divisor)))
    return max(found)


def line(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """How clear the clearest line is (positive: not by chance), and its period."""
    low, high = np.quantile(np.concatenate([first[:5000], second[:5000]]), [0.005, 0.995], method="nearest")
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scale = CELLS / (high - low)
    if not 0 < scale < np.inf:
        return 0.0, 1.0
    signed = sum(
        sign * np.bincount(((x[(x >= low) & (x < high)] - low) * scale).astype(int), minlength=CELLS)[:CELLS] / len(x)
        for sign, x in ((1.0, first), (-1.0, second))
    )
    power = np.abs(np.fft.rfft(signed - np.mean(signed), PADDING * CELLS))[:-1] ** 2
    # By chance alone the power around a line is exponential: its median is log 2 times its mean, which is that of
    # independent runs, or at most twice that where both datasets have the same noise.
    median = np.median(power.reshape(-1, PADDING * BLOCK), axis=1).repeat(PADDING * BLOCK)
    clear = power / np.maximum(median / np.log(2), 2 / len(first) + 2 / len(second))
    clear[: PADDING * BLOCK] = 0.0
    k = int(clear.argmax())
    if k + 1 >= len(power) or not clear[k]:
        return 0.0, 1.0
    before, at, after = np.sqrt(power[k - 1 : k + 2])
    bend = before - 2 * at + after
    cycles = (k + (0.5 * (before - after) / bend if bend < 0 else 0.0)) / PADDING
    return float(clear[k] - np.log(len(power)) - SURE), float(high - low) / cycles


def finer(first: np.ndarray, second: np.ndarray, coarse: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Edges of many cells of equal pooled mass and their log ratios, where the runs speak for them; else None.

    Each cell's share of runs on the first dataset has a beta prior; how many cells there are, and how close to the
    common share they are held, is what makes the runs likeliest. The `coarse` edges must be beaten.
    """
    ours, theirs = np.sort(first), np.sort(second)
    pooled = np.sort(np.concatenate([ours, theirs]), kind="stable")  # merges what is in order already
    least, found = _evidence(ours, theirs, coarse)[0] + SURE, None
    cells = 2 * (len(coarse) + 1)
    while cells <= min(FINEST, len(pooled) // FEWEST):
        edges = np.unique(pooled[np.linspace(0, len(pooled) - 1, cells + 1)[1:-1].astype(int)])
        evidence, ratios = _evidence(ours, theirs, edges)
        if evidence > least:
            least, found = evidence, (edges, ratios)
        cells *= 2
    return found


def _evidence(first: np.ndarray, second: np.ndarray, edges: np.ndarray) -> tuple[float, np.ndarray]:
    """How likely the datasets of the runs (in order) are given their cells, and the log ratio of each cell.

    At the best weight of the prior.
    """
    ours, theirs = (np.diff(np.searchsorted(side, edges), prepend=0, append=len(side)) for side in (first, second))
    share = len(first) / (len(first) + len(second))

    def likely(weight: float) -> float:
        a, b = weight * share, weight * (1 - share)
        return float((special.betaln(ours + a, theirs + b) - special.betaln(a, b)).sum())

    weight = max(WEIGHTS, key=likely)
    ratios = special.logit((ours + weight * share) / (ours + theirs + weight)) - special.logit(share)
    return likely(weight), ratios
