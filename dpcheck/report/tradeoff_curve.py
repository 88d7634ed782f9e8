"""An audit's trade-off curve: plain numbers to keep, and the picture of them as SVG that follows the page's colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcheck.audits import AuditResult

SIDE, LEFT, TOP, BELOW = 400, 58, 12, 48  # of the square between the axes, and around it
TICKS = (0, 0.25, 0.5, 0.75, 1)
GRID = 101  # points of the claimed curve
Point = Sequence[float]


def curve_of(result: AuditResult) -> dict[str, Any]:
    """What is drawn, as plain numbers: measured (type I, type II, its limits), claimed, the event that was tested."""
    import numpy as np  # pages are written without it, from what was kept

    found: dict[str, Any] = {"event": event_point(result)}
    if result.curve is not None:
        c = result.curve
        order = np.argsort(c.type_one, kind="stable")
        columns = (c.type_one, c.type_two, c.type_two_low, c.type_two_high)
        found["measured"] = np.round(np.stack(columns, axis=1)[order], 6).tolist()
    if result.guarantee is not None:
        at = np.linspace(0, 1, GRID)
        found["claimed"] = np.round(np.stack([at, result.guarantee.tradeoff(at)], axis=1), 6).tolist()
    return found


def event_point(result: AuditResult) -> list[float] | None:
    """The errors of the test that says "first" by the event."""
    hits, others, runs = result.counts
    if not runs:
        return None
    wrong, missed = others / runs, 1 - hits / runs
    return [wrong, missed] if result.direction == "first" else [missed, wrong]


def curve_svg(curve: Mapping[str, Any]) -> str:
    """The picture, and what its lines are."""
    measured, claimed, event = (curve.get(name) for name in ("measured", "claimed", "event"))
    drawn, said = [axes(), line("blind", [(0, 1), (1, 0)])], [("blind", "outputs that tell nothing")]
    if claimed:
        drawn.append(line("claimed", claimed))
        said.append(("claimed", "claimed: no test may fall below"))
    if measured:
        band = [*((x, low) for x, _, low, _ in measured), *((x, high) for x, *_, high in reversed(measured))]
        drawn += [f"<polygon class='band' points='{points(band)}'/>", line("measured", [p[:2] for p in measured])]
        said.insert(0, ("measured", "measured, with its confidence band"))
    if event:
        x, y = place(event)
        drawn.append(f"<circle class='event' cx='{x:.1f}' cy='{y:.1f}' r='5.5'/>")
        said.append(("event", "the event that was tested"))
    words = "".join(f"<span><i class='of-{kind}'></i>{text}</span>" for kind, text in said)
    box = f"0 0 {LEFT + SIDE + 14} {TOP + SIDE + BELOW}"
    label = "Trade-off of the errors of a test that tells the two datasets apart"
    return (
        f"<figure><svg viewBox='{box}' role='img' aria-label='{label}'>{''.join(drawn)}</svg>"
        f"<figcaption>{words}</figcaption></figure>"
    )


def axes() -> str:
    """Both from 0 to 1."""
    parts = []
    for tick in TICKS:
        x, y = place((tick, tick))
        parts.append(f"<line class='grid' x1='{x:.1f}' x2='{x:.1f}' y1='{TOP}' y2='{TOP + SIDE}'/>")
        parts.append(f"<line class='grid' x1='{LEFT}' x2='{LEFT + SIDE}' y1='{y:.1f}' y2='{y:.1f}'/>")
        parts.append(f"<text x='{x:.1f}' y='{TOP + SIDE + 18}' text-anchor='middle'>{tick:g}</text>")
        parts.append(f"<text x='{LEFT - 8}' y='{y + 4:.1f}' text-anchor='end'>{tick:g}</text>")
    middle = TOP + SIDE / 2
    parts.append(f"<text x='{LEFT + SIDE / 2}' y='{TOP + SIDE + 40}' text-anchor='middle'>type I error</text>")
    parts.append(f"<text transform='translate(14 {middle}) rotate(-90)' text-anchor='middle'>type II error</text>")
    return "".join(parts)


def line(kind: str, through: Iterable[Point]) -> str:
    return f"<polyline class='{kind}' points='{points(through)}'/>"


def points(through: Iterable[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, through))


def place(point: Point) -> tuple[float, float]:
    """Where a pair of errors stands in the picture."""
    return LEFT + SIDE * point[0], TOP + SIDE * (1 - point[1])
