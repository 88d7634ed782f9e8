"""Comparisons, solved symbols, regenerated tables and measurements on a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from dpcheck.bounds.language.claim import pretty
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.proving import tables
from dpcheck.bounds.relations.rates import ruling
from dpcheck.report.layout import indented
from dpcheck.report.terminal import coloured
from dpcheck.theory.claim_choice import verdict_of

if TYPE_CHECKING:  # they show themselves by what is here
    from collections.abc import Sequence

    from dpcheck.bounds.relations.solving import Solved
    from dpcheck.local import LocalChoice
    from dpcheck.theory.comparison import Comparison, Meeting, Side
    from dpcheck.theory.measurement import Measurement

STATUS = {"same": "green", "larger": "yellow", "smaller": "red", "no claim": "bright_black", "quoted": "bright_black"}


def as_text(content: Any, width: int = 160) -> str:
    """Without colours, for `print`."""
    console = Console(file=io.StringIO(), width=width, no_color=True)
    console.print(content)
    return "\n".join(line.rstrip() for line in console.file.getvalue().rstrip().splitlines())  # type: ignore[attr-defined]


# Comparison ----------------------------------------------------------------------------------------
COMPARED = ("kind", "place", "name", "bound", "constant", "verdict", "claim", "T", "grows_as")


def comparison_page(found: Comparison) -> Group:
    """Each kind of bound: who is least, the bounds with how they grow, where they cross. Wraps between words only."""
    lines: list[Any] = []
    for group in found.groups:
        lines.append(Text(sentence(str(group.kind)), style="bold"))
        lines += [Text(group.headline)] if group.headline else []
        for side in [*group.sides, *([group.lower] if group.lower else [])]:
            lines += side_lines(found, side, side is group.lower)
        lines += [Text(f"{meeting.sentence}{closed_form_text(meeting)}.") for meeting in group.meetings]
        lines.append(Text(""))
    if len(found.groups) > 1:
        lines.append(Text("Bounds of different kinds are not ranked against each other."))
    if found.caution:
        lines.append(Text(found.caution, style="yellow"))
    lines.append(Text(f"At {point_text(found)}."))
    if found.also_shared:
        lines.append(Text("Also shared: " + "; ".join(map(str, found.also_shared)) + "."))
        lines.append(Text("Choose with --losses, --privacy, --measure."))
    return Group(*lines)


def side_lines(found: Comparison, side: Side, lower: bool) -> list[Any]:
    """Name, value and verdict; the claim; how its ruling term grows."""
    head = Text(f"  {side.name}  {value_text(side, lower)}  ") + coloured(side.verdict)
    return [head, *(indented(line, 5) for line in (side.source, growth(found, side)))]


def growth(found: Comparison, side: Side) -> str:
    """The ruling term at the point, symbol by symbol."""
    exponents = ruling(side.claim.formula, {"T": side.steps or 1.0, **found.values}).exponents
    shown = (exponents[s].text(s) for s in sorted(exponents, key=shown_order))
    return "grows as " + (" · ".join(text for text in shown if text) or "1")


def comparison_rows(found: Comparison) -> list[tuple[str, ...]]:
    """One a bound, as in COMPARED; place 0 is the lower bound's, none that of a bound which does not apply."""
    rows: list[tuple[str, ...]] = []
    for group in found.groups:
        places = {id(side): str(place) for place, side in enumerate(group.ranking, 1)}
        for side in [*group.sides, *([group.lower] if group.lower else [])]:
            place = "0" if side is group.lower else places.get(id(side), "")
            value = side.reason if side.value is None else f"{side.value:.6g}"
            steps = "" if side.steps is None else f"{side.steps:g}"
            head = (str(group.kind), place, side.name, value, "known" if side.explicit else "C")
            rows.append((*head, side.verdict, side.source, steps, growth(found, side).removeprefix("grows as ")))
    return rows


# Local randomisers ---------------------------------------------------------------------------------
LOCALLY = ("question", "place", "randomiser", "error", "of_a_curators")


def local_page(found: Sequence[LocalChoice]) -> Group:
    """Each question: the randomisers by their error, a curator's, and the users it takes to make up for it."""
    lines: list[Any] = []
    for one in found:
        lines.append(Text(f"{sentence(one.question)}, {one.n} users", style="bold"))
        lines += [indented(f"{error:.4g}  {name}") for name, error in one.errors]
        lines.append(indented(f"{one.central:.4g}  a trusted curator, Laplace noise: {one.lost:.3g} times less"))
        lines.append(indented(f"{one.users:.3g} users would have the curator's error."))
    lines.append(Text("Errors: roots of mean squares; of a mean at worst, of a share where nobody holds the item."))
    return Group(*lines)


def local_rows(found: Sequence[LocalChoice]) -> list[tuple[str, ...]]:
    """One a randomiser, as in LOCALLY."""
    return [
        (one.question, str(place), name, f"{error:.6g}", f"{error / one.central:.6g}")
        for one in found
        for place, (name, error) in enumerate(one.errors, 1)
    ]


def closed_form_text(meeting: Meeting) -> str:
    closed = meeting.crossing.formula
    return "" if closed is None else f"; they meet at {TABLE[meeting.crossing.symbol].printed} = {pretty(closed)}"


def sentence(words: str) -> str:
    """With a capital, and the rest as it is."""
    return words[:1].upper() + words[1:]


def shown_order(symbol: Any) -> tuple[int, str]:
    """n, d, ε, δ first, constants after."""
    first = ("n", "d", "eps", "delta", "T")
    return (first.index(str(symbol)) if str(symbol) in first else len(first), str(symbol))


def value_text(one: Side, lower: bool) -> str:
    if one.value is None:
        return one.reason
    sign = "≥" if lower else "≤"
    steps = f" (T = {one.steps:g})" if one.steps is not None else ""
    return f"{sign} {'' if one.explicit else 'C·'}{one.value:.4g}{steps}"


def point_text(found: Comparison) -> str:
    parts = [f"{TABLE[s].printed} = {found.values[str(s)]:g}" for s in TABLE if str(s) in found.values]
    taken = [TABLE[s].printed for s in TABLE if str(s) in found.defaulted]
    return ", ".join(parts) + (f" ({', '.join(taken)} by default)" if taken else "")


# Solved --------------------------------------------------------------------------------------------
def solved_page(found: Solved) -> Group:
    """The value, the bound there, the closed form."""
    name = next((row.printed for row in TABLE.values() if row.name == found.symbol), found.symbol)
    lines = [
        Text(f"{name} = {found.value:.10g}", style="bold"),
        Text(f"{found.claim} gives {found.check:.6g} there; target {found.target:g}"),
    ]
    if found.formula is not None:
        lines.append(Text(f"in general: {name} = {pretty(found.formula)}"))
    return Group(*lines, *([Text(found.note)] if found.note else []))


# Printed tables ------------------------------------------------------------------------------------
def table_list() -> Table:
    """Every printed table, and how many of its cells the claims give."""
    out = Table(header_style="bold", pad_edge=False)
    for name in ("table", "what it compares", "same", "differ", "quoted", "no claim yet"):
        out.add_column(name, overflow="fold")
    for table in tables.tables().values():
        cells = tables.regenerate(table).cells
        counts = [sum(c.status == status for c in cells) for status in ("same", "quoted", "no claim")]
        differ = sum(c.differs for c in cells)
        out.add_row(table.id, table.title, str(counts[0]), str(differ), str(counts[1]), str(counts[2]))
    return out


def regenerated_page(found: tables.Regenerated) -> Group:
    """Printed and regenerated cells side by side; what differs is marked, and listed below."""
    out = Table(title=f"{found.table.id}: {found.table.title}", title_justify="left", header_style="bold")
    for name in ("method", "column", "printed", "regenerated", "status", "from claim"):
        out.add_column(name, overflow="fold")
    for cell in found.cells:
        if cell.status == "words":
            continue
        claim = (
            f"{cell.claim} ({verdict_of_id(cell.claim)})" if cell.claim and cell.status != "no claim" else cell.claim
        )
        mark = Text(cell.status, style=STATUS.get(cell.status, ""))
        out.add_row(cell.method, cell.column, cell.printed, cell.regenerated, mark, claim)
    lines: list[Any] = [out]
    for row, words in found.privacy.items():
        method = found.table.rows[row - 1].method
        lines.append(Text(f"{method}: privacy condition satisfiable at the stated parameters? {words}"))
    for cell in found.differences:
        factor = f", printed over claim: {cell.ratio}" if cell.ratio else ""
        lines.append(Text(f"{cell.text()} ({tables.MEANING[cell.status]}{factor})", style=STATUS[cell.status]))
    if not found.differences:
        lines.append(Text("No cell that has a claim differs from it."))
    for cell in found.cells:
        if cell.note and cell.status != "words":
            lines.append(Text(f"{cell.method}, {cell.column}: {cell.note}", style="bright_black"))
    return Group(*lines)


def verdict_of_id(claim_id: str) -> str:
    claim = tables.known(claim_id)
    return verdict_of(claim) if claim is not None else "not recorded"


# Measurement ---------------------------------------------------------------------------------------
def measurement_page(found: Measurement) -> Group:
    """Measured error and bounds, one row a grid value."""
    table = Table(header_style="bold", pad_edge=False)
    table.add_column(TABLE[found.symbol].printed, justify="right")
    table.add_column(TABLE[found.measure].printed, justify="right")
    table.add_column(f"{100 * found.confidence:g}% interval", justify="right")
    for line in found.lines:
        table.add_column(line.role, justify="right")
    for i, x in enumerate(found.grid):
        interval = f"{found.low[i]:.4g} to {found.high[i]:.4g}"
        table.add_row(f"{x:g}", f"{found.mean[i]:.4g}", interval, *(f"{line.values[i]:.4g}" for line in found.lines))
    head = Text(f"{found.solver}: {found.setting}", style="bold")
    return Group(head, table, *(Text(line.label) for line in found.lines), *(Text(note) for note in found.notes))
