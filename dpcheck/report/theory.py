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
from dpcheck.report.terminal import coloured
from dpcheck.theory.claim_choice import verdict_of

if TYPE_CHECKING:  # they show themselves by what is here
    from dpcheck.bounds.relations.solving import Solved
    from dpcheck.theory.comparison import Comparison, Side
    from dpcheck.theory.measurement import Measurement

STATUS = {"same": "green", "larger": "yellow", "smaller": "red", "no claim": "bright_black", "quoted": "bright_black"}


def as_text(content: Any, width: int = 160) -> str:
    """Without colours, for `print`."""
    console = Console(file=io.StringIO(), width=width, no_color=True)
    console.print(content)
    return console.file.getvalue().rstrip()  # type: ignore[attr-defined]


# Comparison ----------------------------------------------------------------------------------------
def comparison_page(found: Comparison) -> Group:
    """The case, the table of exponents and values, who wins, and what was assumed."""
    lines: list[Any] = [Text(str(found.case), style="bold"), exponent_table(found), *winning_lines(found)]
    if found.caution:
        lines.append(Text(found.caution, style="yellow"))
    lines.append(Text(f"At {point_text(found)}."))
    if found.constants:
        lines.append(Text(found.constants))
    if found.other_cases:
        lines.append(
            Text("Also shared: " + "; ".join(map(str, found.other_cases)) + " (--losses, --privacy, --measure).")
        )
    return Group(*lines)


def exponent_table(found: Comparison) -> Table:
    """One column a side: the exponent of each symbol in its ruling term, the value at the point, claim and verdict."""
    sides = [*found.sides, *([found.lower] if found.lower else [])]
    symbols = sorted(set().union(*(s.claim.formula.free_symbols for s in sides)), key=shown_order)
    ruled = [ruling(s.claim.formula, {"T": s.steps or 1.0, **found.values}).exponents for s in sides]
    table = Table(header_style="bold", pad_edge=False)
    table.add_column("", style="bold", no_wrap=True)
    for one in sides:
        table.add_column(one.name, overflow="fold")
    for symbol in symbols:
        table.add_row(TABLE[symbol].printed, *(e[symbol].text(symbol) if symbol in e else "" for e in ruled))
    table.add_section()
    table.add_row("value", *(value_text(one, one is found.lower) for one in sides))
    table.add_row("claim", *(one.source for one in sides))
    table.add_row("verdict", *(coloured(one.verdict) for one in sides))
    return table


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


def winning_lines(found: Comparison) -> list[Text]:
    """Who is least at the point, and where that changes."""
    order = found.ranking
    lines = []
    if len(order) > 1 and order[0].value and order[1].value:
        factor = order[1].value / order[0].value
        if factor < 1 + 1e-9:
            lines.append(Text(f"{order[0].name} and {order[1].name} are equal here."))
        else:
            lines.append(
                Text(f"{order[0].name} is least here, {order[1].name} {factor:.3g} times larger.", style="bold")
            )
    for meeting in found.meetings:
        closed = meeting.crossing.formula
        exact = (
            f"; they meet at {TABLE[meeting.crossing.symbol].printed} = {pretty(closed)}" if closed is not None else ""
        )
        lines.append(Text(f"{meeting.sentence}{exact}."))
    return lines


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
    for name in ("method", "column", "printed", "regenerated", "", "from claim"):
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
