"""Events of a known or fitted likelihood ratio: the ratio itself says how rare they are, far into the tails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from dpcheck.audits.scores.attacks import Score
from dpcheck.audits.scores.densities import CERTAIN
from dpcheck.audits.scores.learned import fit_logistic
from dpcheck.audits.statistics.event_choice import Events, Prospect, prospect_of

Sides = tuple[np.ndarray, np.ndarray]
DOUBT = 4.0  # standard errors at which a density is no longer believed
CONTRADICTED = 5.0  # the same at any of a thousand thresholds
PLACES = 100  # at which a fitted ratio may stop rising


def prospect_of_known(score: Score, first: np.ndarray, second: np.ndarray) -> Prospect:
    """From pilot scores: of all runs with a log ratio s, the share e^s / (1 + e^s) comes from the first dataset.

    A density that the pilot contradicts is a score like any other; normal scores are better served by their fit.
    """
    plain = prospect_of(score, first, second)
    events = _by_ratio(plain, (first, second), (first, second))
    return plain if events is None else Prospect(score, plain.thresholds, events)


def prospect_of_fitted(score: Score, first: np.ndarray, second: np.ndarray) -> Prospect:
    """The same of a fitted log ratio, put right by runs it was not fitted to: level, slope and how far it rises."""
    pooled, side = np.concatenate([first, second]), np.repeat([1.0, 0.0], [len(first), len(second)])
    plain = prospect_of(score, first, second)
    if not np.isfinite(pooled).all():
        return plain
    slope, level = fit_logistic(np.clip(pooled, -CERTAIN, CERTAIN)[:, None], side, ridge=1e-6)
    if slope <= 0:
        return plain
    risen = as_far_as_seen(slope * pooled + level, side)
    return replace(plain, model=_by_ratio(plain, (first, second), (risen[: len(first)], risen[len(first) :])))


def as_far_as_seen(ratios: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Log ratios that stop rising, and falling, somewhere: averaged over the places where they may, by likelihood.

    A ratio fitted to Gaussians rises for ever, that of Laplace noise does not. Each place, up to the ratio that so many
    runs could show, is as likely beforehand as any other.
    """
    return np.where(ratios > 0, _stopping(ratios, side), -_stopping(-ratios, 1 - side))


def _stopping(ratios: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The same above 0 only."""
    places = np.linspace(0, np.log(len(ratios)), PLACES)
    order = np.argsort(ratios)
    rising, ours = ratios[order], side[order]
    likelihood = np.concatenate([[0.0], np.cumsum(ours * rising - np.logaddexp(0, rising))])
    below = np.searchsorted(rising, places, side="right")
    beyond, beyond_ours = len(ours) - below, ours.sum() - np.concatenate([[0.0], np.cumsum(ours)])[below]
    likelihood = likelihood[below] + beyond_ours * places - beyond * np.logaddexp(0, places)
    weight = special.softmax(likelihood)
    # Of runs as far out as s, the share of the other dataset: e^-s where the ratio rises so far, else that of its end.
    ended = np.concatenate([[0.0], np.cumsum(weight * special.expit(-places))])
    passed = np.concatenate([[0.0], np.cumsum(weight)])
    before = np.searchsorted(places, ratios)
    other = ended[before] + (1 - passed[before]) * special.expit(-ratios)
    return -special.logit(np.clip(other, 1e-300, 1.0))


def _by_ratio(plain: Prospect, scores: Sides, ratios: Sides) -> Events | None:
    """Rates by log ratios that rise with the scores, where the runs do not contradict them."""
    if plain.normal or not believable(*ratios):
        return None
    above = [len(scores[0]) + len(scores[1])] - np.searchsorted(np.sort(np.concatenate(scores)), plain.thresholds)
    pooled = np.sort(np.concatenate(ratios))
    p, q = (
        np.concatenate([[0.0], np.cumsum(share[::-1])])[above] / share.sum()
        for share in (special.expit(pooled), special.expit(-pooled))
    )
    if not (agrees(scores[0], plain.thresholds, p) and agrees(scores[1], plain.thresholds, q)):
        return None
    return [(True, "first", p, q), (False, "second", 1 - q, 1 - p)]


def agrees(scores: np.ndarray, thresholds: np.ndarray, rates: np.ndarray) -> bool:
    """Whether runs passed every threshold about as often as these rates say: a ratio may be right only in the bulk."""
    met = len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")
    expected = len(scores) * rates
    spread = np.sqrt(np.maximum(expected * (1 - rates), 0.0) + 1.0)
    return bool((np.abs(met - expected) <= CONTRADICTED * spread).all())


def believable(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether both datasets' runs are spread over the scores as the scores themselves say, in level and in slope."""
    scores = np.concatenate([first, second])
    side, expected = np.repeat([1.0, 0.0], [len(first), len(second)]), special.expit(scores)
    for weight in (np.ones(len(scores)), np.clip(scores, -5, 5)):
        # That of coins; runs in equal numbers from both sides vary less.
        spread = float(np.sqrt((weight**2 * expected * (1 - expected)).sum()))
        if abs(float((weight * (side - expected)).sum())) > DOUBT * spread + 1e-6:
            return False
    return True
