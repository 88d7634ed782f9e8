"""The same event in fewer words: where one column draws nearly the same line as a learned score, the column is read.

Nothing is lost by it but a score that nobody can picture; the pilot decides, before the trials that certify.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpcheck.audits.outputs.encoding import SHOWN
from dpcheck.audits.scores.attacks import Coordinate, Given, telling_columns
from dpcheck.audits.scores.densities import KnownRatio
from dpcheck.audits.scores.tables import Atoms
from dpcheck.audits.statistics.event_choice import CAUTION, Choice, predicted_bound, wilson

DISAGREE = 0.005  # of the runs inside the event, and of those outside


def simpler(choice: Choice, first: np.ndarray, second: np.ndarray, trials: int, alpha: float) -> Choice:
    """A half-line of one column, if the pilot's runs fall into it just as into the event; else the event itself.

    Of the half-lines that near, the one from which most is to be expected. A table of many outputs gives way to any
    half-line that promises as much by counts: outputs too rare for the pilot are missing on its side.
    """
    if isinstance(choice.score, Coordinate | Given | KnownRatio) or is_short_list(choice):
        return choice
    rows, favoured = np.concatenate([first, second]), np.repeat([True, False], [len(first), len(second)])
    favoured = favoured if choice.direction == "first" else ~favoured
    inside = choice.holds(choice.score(rows))

    def promise(hits: np.ndarray, false: np.ndarray) -> np.ndarray:
        ours, theirs = int(favoured.sum()), int((~favoured).sum())
        p, q = wilson(hits / ours, ours, -CAUTION), wilson(false / theirs, theirs, CAUTION)
        return np.asarray(predicted_bound(p, q, choice.target.delta, trials, alpha))

    most = DISAGREE * min(int(inside.sum()), int((~inside).sum()))
    counted = promise(np.sum(inside & favoured), np.sum(inside & ~favoured))
    least = float(counted) if isinstance(choice.score, Atoms) else np.inf
    for column in telling_columns(first, second):
        lines = HalfLines.of(rows[:, column], inside, favoured)
        promised = promise(lines.hits, lines.false)
        near = (lines.wrong <= most) | (promised >= least)
        if near.any():
            above, threshold = lines.drawn(int(np.argmax(np.where(near, promised, -np.inf))))
            return replace(choice, score=Coordinate(column), threshold=threshold, above=above, normal=False)
    return choice


def is_short_list(choice: Choice) -> bool:
    """Whether the event is made of so few outputs that they can be listed."""
    if not isinstance(choice.score, Atoms) or choice.score.columns is not None:
        return False
    inside = int(choice.holds(choice.score.scores).sum())
    return min(inside, len(choice.score.scores) - inside) <= SHOWN


@dataclass(frozen=True, eq=False)
class HalfLines:
    """All half-lines of a column, those above its distinct values before those below: runs in them, by kind.

    `wrong` counts runs that lie in one of half-line and event but not in both.
    """

    ordered: np.ndarray
    places: np.ndarray
    wrong: np.ndarray
    hits: np.ndarray
    false: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, inside: np.ndarray, favoured: np.ndarray) -> HalfLines:
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        places = np.flatnonzero(np.concatenate([[True], ordered[1:] > ordered[:-1]]))

        def from_there_on(kind: np.ndarray) -> np.ndarray:
            below = np.concatenate([[0], np.cumsum(kind[order])])
            return below[-1] - below[places]

        def either(above: np.ndarray, total: int) -> np.ndarray:
            return np.concatenate([above, total - above])

        outside, members = from_there_on(~inside), from_there_on(inside)
        return cls(
            ordered,
            places,
            either(outside + int(inside.sum()) - members, len(values)),
            either(from_there_on(favoured), int(favoured.sum())),
            either(from_there_on(~favoured), int((~favoured).sum())),
        )

    def drawn(self, which: int) -> tuple[bool, float]:
        """Whether it lies above its end, and the end: halfway between two runs, as fresh ones may fall short."""
        return which < len(self.places), between(self.ordered, int(self.places[which % len(self.places)]))


def between(ordered: np.ndarray, place: int) -> float:
    """A threshold halfway below this place."""
    value = float(ordered[place])
    if place == 0 or not np.isfinite(ordered[place - 1]) or not np.isfinite(value):
        return value
    middle = float(ordered[place - 1]) + (value - float(ordered[place - 1])) / 2
    return middle if middle > ordered[place - 1] else value
