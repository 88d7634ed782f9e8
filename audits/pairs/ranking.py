"""Ranking pairs by few runs: about what an audit would reach, by light scores judged on runs they never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.audits.scores.attacks import Score, candidates, distinct_share
from dpcheck.audits.scores.tables import Atoms, row_keys
from dpcheck.audits.statistics.event_choice import Target, predicted_bound, wilson

RANKING_ALPHA = 0.05  # pairs are compared, not judged: the audit's own alpha only adds noise here
CAUTION = 1.5  # standard errors taken off a rate: fewer than for the final event, since all pairs share their luck
FEWEST_RUNS = 12  # that an event should hold


@dataclass(frozen=True)
class Figures:
    """What runs say of a pair: the margin an audit would about reach, the same at the audit's own alpha, and how well
    one run tells the datasets apart.
    """

    margin: float
    sure: float
    separation: float


def figures_of(
    attack: Any, first: np.ndarray, second: np.ndarray, goals: Sequence[Target], trials: int, alpha: float
) -> Figures:
    """Margins to expect from `trials` runs and separation, by events judged on runs that they were not fitted to.

    Each half of the runs is judged by the scores of the other; an event is a share of the runs with the highest or
    lowest scores, so both halves add up.
    """
    runs = min(len(first), len(second))
    halves = [(first[0::2], second[0::2]), (first[1::2], second[1::2])]
    shares = _shares(runs)
    rates: list[dict[Any, np.ndarray]] = [{}, {}]
    for known, fitted, judged in zip(rates, halves, halves[::-1], strict=True):
        for name, score in _scores(attack, *fitted).items():
            scores = score(judged[0]), score(judged[1])
            if not np.isnan(scores).any():  # infinite outputs that cancel in a sum
                known[name] = _rates(*scores, shares)
    both = [(one + rates[1][name]) / 2 for name, one in rates[0].items() if name in rates[1]]
    if not both:
        return Figures(-np.inf, -np.inf, 0.0)
    p, q = np.concatenate(both, axis=-1)
    favoured, other = np.stack([p, 1 - p, q, 1 - q]), np.stack([q, 1 - q, p, 1 - p])
    low, high = wilson(favoured, runs, -CAUTION), wilson(other, runs, CAUTION)
    margin, sure = (
        max(float(predicted_bound(low, high, goal.delta, trials, level).max()) - goal.epsilon for goal in goals)
        for level in (RANKING_ALPHA, alpha)
    )
    return Figures(margin, sure, float((favoured - other).max()))


def _scores(attack: Any, first: np.ndarray, second: np.ndarray) -> dict[Any, Score]:
    """Light scores, named so that both halves have the same ones."""
    found: list[Score] = candidates(attack, first, second, False, True)
    if attack == "atoms" or (attack == "auto" and distinct_share(first, second) < 1 / 3):
        found = [*found, _table(first, second)]
    kinds = [type(score) for score in found]
    return {(kind, kinds[:i].count(kind)): score for i, (kind, score) in enumerate(zip(kinds, found, strict=True))}


def _table(first: np.ndarray, second: np.ndarray) -> Atoms:
    """Log-likelihood ratios of the distinct outputs as they were counted."""
    ours, theirs = row_keys(first), row_keys(second)
    keys, place = np.unique(np.concatenate([ours, theirs]), return_index=True)
    counts = [np.bincount(np.searchsorted(keys, side), minlength=len(keys)) + 0.5 for side in (ours, theirs)]
    rows = np.concatenate([first, second])[place]
    return Atoms(keys, np.log(counts[0] / counts[1]), rows, counts[0] + counts[1])


def _shares(runs: int) -> np.ndarray:
    """Shares of the pooled runs that events hold: even in the bulk, geometric to some runs in both tails."""
    tail = np.geomspace(min(0.1, FEWEST_RUNS / runs), 0.1, 8)
    return np.unique(np.concatenate([tail, np.linspace(0.1, 0.9, 17), 1 - tail]))


def _rates(first: np.ndarray, second: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Rates on both datasets of the events {score >= threshold} that hold these shares of the pooled runs."""
    pooled = np.sort(np.concatenate([first, second]))
    thresholds = pooled[np.minimum((1 - shares) * len(pooled), len(pooled) - 1).astype(int)]
    sides = [1 - np.searchsorted(np.sort(side), thresholds, side="left") / len(side) for side in (first, second)]
    return np.array(sides)
