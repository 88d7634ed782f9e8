"""An event in the user's terms: "output['count'] >= 3.2", "output is None", "key 'green' of output is absent"."""

from __future__ import annotations

import numpy as np

from dpcheck.audits.outputs.encoding import Encoding, Range, listed
from dpcheck.audits.scores.attacks import Coordinate, Histogram
from dpcheck.audits.scores.tables import Atoms
from dpcheck.audits.statistics.event_choice import Choice


def sentence_of(choice: Choice, encoding: Encoding) -> str:
    """The event in words."""
    score = choice.score
    if isinstance(score, Coordinate):
        return encoding.sentence(score.column, [half_line(choice)])
    if isinstance(score, Histogram) and isinstance(score.base, Coordinate):
        return encoding.sentence(score.base.column, cells_of(score, choice))
    if isinstance(score, Atoms) and score.columns is None:
        return outputs_of(score, choice, encoding)
    return f"{score.phrase(encoding.name)} {'>=' if choice.above else '<'} {choice.threshold:.10g}"


def half_line(choice: Choice) -> Range:
    """The scores of the event."""
    return (choice.threshold, np.inf) if choice.above else (-np.inf, choice.threshold)


def cells_of(score: Histogram, choice: Choice) -> list[Range]:
    """The cells that the event is made of."""
    edges = [-np.inf, *score.edges.tolist(), np.inf]
    return [(edges[i], edges[i + 1]) for i in np.flatnonzero(choice.holds(score.scores)).tolist()]


def outputs_of(score: Atoms, choice: Choice, encoding: Encoding) -> str:
    """The outputs that the event is made of, the likeliest first; what the pilot never saw scores 0."""
    inside = choice.holds(score.scores)
    unseen = bool(choice.holds(np.zeros(1))[0])
    if inside.all() and unseen:
        return "any output"
    few = inside if not unseen or inside.sum() <= (~inside).sum() else ~inside
    likeliest = np.argsort(-score.runs * few, kind="stable")[: int(few.sum())].tolist()
    names = listed([encoding.shown(score.rows[i]) for i in likeliest], "or") or "nothing"
    others = " or one that the pilot never saw" if unseen else ""
    said = f"output is {names}{others}" if few is inside else f"output is other than {names}"
    return f"{said} (from a table of {len(score.keys)} values)"
