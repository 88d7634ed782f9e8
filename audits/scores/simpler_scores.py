"""The same event in fewer words: where one column draws nearly the same line as a learned score, the column is read.

Nothing is lost by it but a score that nobody can picture; the pilot decides, before the trials that certify.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcheck.audits.outputs.encoding import SHOWN
from dpcheck.audits.scores.attacks import Coordinate, Given, telling_columns
from dpcheck.audits.scores.densities import KnownRatio
from dpcheck.audits.scores.tables import Atoms
from dpcheck.audits.statistics.event_choice import Choice

DISAGREE = 0.005  # of the runs inside the event, and of those outside


def simpler(choice: Choice, first: np.ndarray, second: np.ndarray) -> Choice:
    """A half-line of one column, if the pilot's runs fall into it just as into the event; else the event itself."""
    if isinstance(choice.score, Coordinate | Given | KnownRatio) or is_short_list(choice):
        return choice
    rows = np.concatenate([first, second])
    inside = choice.holds(choice.score(rows))
    most = DISAGREE * min(int(inside.sum()), int((~inside).sum()))
    for column in telling_columns(first, second):
        wrong, threshold, above = best_cut(rows[:, column], inside)
        if wrong <= most:
            return replace(choice, score=Coordinate(column), threshold=threshold, above=above, normal=False)
    return choice


def is_short_list(choice: Choice) -> bool:
    """Whether the event is made of so few outputs that they can be listed."""
    if not isinstance(choice.score, Atoms) or choice.score.columns is not None:
        return False
    inside = int(choice.holds(choice.score.scores).sum())
    return min(inside, len(choice.score.scores) - inside) <= SHOWN


def best_cut(values: np.ndarray, inside: np.ndarray) -> tuple[int, float, bool]:
    """The half-line that is nearest to a set of runs: runs on the wrong side, its end, and whether it lies above."""
    order = np.argsort(values, kind="stable")
    ordered, members = values[order], inside[order]
    below = np.concatenate([[0], np.cumsum(members)])  # members before each place
    places = np.flatnonzero(np.concatenate([[True], ordered[1:] > ordered[:-1]]))
    missed = below[places] + (len(values) - places) - (below[-1] - below[places])  # of the half-line from there on
    low, high = int(missed.argmin()), int(missed.argmax())
    if missed[low] <= len(values) - missed[high]:
        return int(missed[low]), between(ordered, int(places[low])), True
    return len(values) - int(missed[high]), between(ordered, int(places[high])), False


def between(ordered: np.ndarray, place: int) -> float:
    """A threshold halfway below this place: fresh runs may fall a little short of those that were seen."""
    value = float(ordered[place])
    if place == 0 or not np.isfinite(ordered[place - 1]) or not np.isfinite(value):
        return value
    middle = float(ordered[place - 1]) + (value - float(ordered[place - 1])) / 2
    return middle if middle > ordered[place - 1] else value
