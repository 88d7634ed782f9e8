"""Comparison tables of the documents, cell by cell: what is printed, and what the claim a row cites gives.

A table keeps few symbols; the claim is brought to its conventions by setting every other symbol to 1, and
log(1/δ) too where δ is not kept. Two cells are compared up to a constant factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Source, Verdict, lambdified, pretty
from dpcheck.bounds.language.errors import UnknownName
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.registry import entries, library_files
from dpcheck.bounds.relations.rates import Exponent, exponent

Status = Literal["same", "larger", "smaller", "quoted", "no claim", "words"]
MEANING: Mapping[Status, str] = {
    "same": "the claim gives the same",
    "larger": "follows from the claim, which gives less",
    "smaller": "does not follow: the claim gives more",
    "quoted": "quoted from a paper that is not among the documents",
    "no claim": "its claim is not in the library",
    "words": "",
}
BOXES = {"n": (2.0, 1e6), "d": (1.0, 1e4), "delta": (1e-10, 0.1), "eps": (1e-2, 1e1), "mu": (1e-3, 1.0)}
WIDE, GROWING = 6.0, 1.5  # a ratio that grows by this when logarithms are 6 times as long has no bound


@dataclass(frozen=True)
class Cell:
    """One printed cell: an expression, or words ("N/A", "Yes").

    `claim` is the id of what it summarises; none for what is quoted from elsewhere. `derived` turns the claim's
    formula into the column's quantity, and `how` says so.
    """

    printed: sympy.Expr | str
    claim: str | None = None
    derived: Callable[[sympy.Expr], sympy.Expr] = field(default=lambda e: e, repr=False)
    how: str = ""


@dataclass(frozen=True)
class Steps:
    """The privacy theorem of a row and the parameters at which the row's utility is stated, by symbol name."""

    claim: str
    at: Mapping[str, sympy.Expr]


@dataclass(frozen=True)
class Row:
    """A method and its cells by column; `privacy` where a condition on ε stands between the two theorems."""

    method: str
    cells: Mapping[str, Cell]
    privacy: Steps | None = None


@dataclass(frozen=True)
class Table:
    """A printed comparison table. `keeps` are the names of the symbols that its cells depend on, by column."""

    id: str
    source: Source
    title: str
    keeps: Mapping[str, Sequence[str]]
    rows: Sequence[Row]
    lower: str | None = None
    hides_logs: bool = False

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row.cells))

    def with_cells(self, corrected: Mapping[tuple[str, str], sympy.Expr]) -> Table:
        """The same table with other expressions in some cells, named by method and column."""
        rows = []
        for row in self.rows:
            cells = {
                c: replace(old, printed=corrected.get((row.method, c), old.printed)) for c, old in row.cells.items()
            }
            rows.append(replace(row, cells=cells))
        return replace(self, rows=rows)


@dataclass(frozen=True)
class Compared:
    """A printed cell beside the regenerated one. `ratio` is printed over regenerated, in words."""

    row: int
    method: str
    column: str
    printed: str
    regenerated: str
    status: Status
    ratio: str = ""
    claim: str = ""
    note: str = ""

    @property
    def differs(self) -> bool:
        return self.status in ("larger", "smaller")

    def text(self) -> str:
        """One line: where, what is printed, what the claim gives."""
        return f"{self.method}, {self.column}: printed {self.printed}, {self.claim} gives {self.regenerated}"


@dataclass(frozen=True)
class Regenerated:
    """A whole table, its cells compared, and whether each row's privacy condition can be met."""

    table: Table
    cells: Sequence[Compared]
    privacy: Mapping[int, str]

    @property
    def differences(self) -> list[Compared]:
        return [cell for cell in self.cells if cell.differs]

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        rows = [{**vars(cell), "differs": cell.differs} for cell in self.cells]
        return {"id": self.table.id, "title": self.table.title, "cells": rows, "privacy": dict(self.privacy)}


# Regenerating --------------------------------------------------------------------------------------
def regenerate(table: Table) -> Regenerated:
    """Every cell from the claim that its row cites."""
    cells = [
        compared(table, i, row, column, cell)
        for i, row in enumerate(table.rows, 1)
        for column, cell in row.cells.items()
    ]
    privacy = {i: satisfiable(row.privacy) for i, row in enumerate(table.rows, 1) if row.privacy is not None}
    return Regenerated(table, cells, privacy)


def compared(table: Table, i: int, row: Row, column: str, cell: Cell) -> Compared:
    """One cell."""
    if isinstance(cell.printed, str):
        return Compared(i, row.method, column, cell.printed, "", "words")
    printed = plain(cell.printed)
    if cell.claim is None:
        return Compared(i, row.method, column, pretty(printed), "", "quoted")
    claim = known(cell.claim)
    if claim is None:
        return Compared(i, row.method, column, pretty(printed), "", "no claim", claim=cell.claim)
    given, dropped = normalised(cell.derived(claim.formula), table.keeps[column], table.hides_logs)
    status, ratio = judged(normalised(printed, table.keeps[column])[0], given)
    words = [cell.how, f"{', '.join(dropped)} at 1" if dropped else ""]
    note = "; ".join(part for part in words if part)
    return Compared(i, row.method, column, pretty(printed), pretty(given), status, ratio, claim.id, note)


def known(claim_id: str) -> Claim | None:
    """The claim of that id, if some file has it."""
    entry = entries().get(claim_id)
    return None if entry is None else entry.claim


def plain(expr: sympy.Expr) -> sympy.Expr:
    """The expression in positive reals of the same names: two files may type a name differently."""
    return expr.xreplace({s: sympy.Symbol(s.name, positive=True) for s in expr.free_symbols})


def normalised(expr: sympy.Expr, keeps: Sequence[str], hides_logs: bool = False) -> tuple[sympy.Expr, list[str]]:
    """The expression under a table's conventions, and what was set to 1 (as a reader sees it)."""
    expr, dropped = plain(expr), []
    if hides_logs:
        dropped += ["logarithms"] if expr.has(sympy.log) else []
        expr = expr.replace(sympy.log, lambda _: sympy.Integer(1))
    if "delta" not in keeps:
        delta = sympy.Symbol("delta", positive=True)
        alone = [e for e in expr.atoms(sympy.log) if e.free_symbols == {delta}]
        dropped += ["log(1/δ)"] if alone else []
        expr = expr.xreplace({e: sympy.Integer(1) for e in alone})
    ones = sorted((s for s in expr.free_symbols if s.name not in keeps), key=str)
    dropped += [shown(s.name) for s in ones]
    return sympy.powsimp(expr.subs(dict.fromkeys(ones, 1))), dropped


def shown(name: str) -> str:
    """A symbol as a reader sees it."""
    return next((row.printed for s, row in TABLE.items() if s.name == name), name)


# Comparing -----------------------------------------------------------------------------------------
def judged(printed: sympy.Expr, given: sympy.Expr) -> tuple[Status, str]:
    """Whether two cells agree up to a constant; else whether the printed one is large enough, and printed / given."""
    ratio = sympy.simplify(sympy.powsimp(sympy.expand_power_base(printed / given), force=True))
    if ratio.is_number:
        return "same", ""
    powers = {s: exponent(printed, s).power - exponent(given, s).power for s in sorted(ratio.free_symbols, key=str)}
    by = "·".join(Exponent(p, sympy.Integer(0)).text(s) for s, p in powers.items() if p != 0) or pretty(ratio)
    near, far = (largest(given / printed, wide) for wide in (1.0, WIDE))
    if near == -np.inf:
        return "smaller", "a logarithm in it is nowhere above 1"
    return ("smaller" if far > GROWING * near else "larger"), by


def largest(ratio: sympy.Expr, wide: float, points: int = 20_000) -> float:
    """The largest value over a box whose logarithms are multiplied by `wide`, where every logarithm is at least 1."""
    names = sorted(ratio.free_symbols, key=str)
    rng = np.random.default_rng(0)
    ends = np.array([np.log(BOXES.get(s.name, (1e-2, 1e2))) for s in names])
    share = rng.random((points, len(names)))
    share[: points // 4] = np.round(share[: points // 4])
    values = np.exp(wide * (ends[:, 0] + share * (ends[:, 1] - ends[:, 0])))
    for k, s in enumerate(names):
        if s.name in ("n", "d"):
            values[:, k] = np.maximum(values[:, k], 1.0)
    with np.errstate(all="ignore"):
        found = np.broadcast_to(lambdified(ratio)(*values.T), points).copy()
        for logarithm in ratio.atoms(sympy.log):
            used = [names.index(s) for s in sorted(logarithm.free_symbols, key=str)]
            if used:
                found[~(lambdified(logarithm)(*values[:, used].T) >= 1)] = -np.inf
    return float(np.max(np.where(np.isfinite(found), found, -np.inf)))


def satisfiable(steps: Steps) -> str:
    """Whether the privacy theorem's condition holds at the stated parameters, as n grows."""
    claim = known(steps.claim)
    if claim is None:
        return f"no claim {steps.claim}"
    conditions = [c for c in claim.conditions if any(str(s) in steps.at for s in c.free_symbols)]
    if not conditions:
        return "no condition"
    for condition in conditions:
        at = {s: steps.at[str(s)] for s in condition.free_symbols if str(s) in steps.at}
        least, most = (plain(side.subs(at)) for side in (condition.lts, condition.gts))
        n = sympy.Symbol("n", positive=True)
        gap = exponent(least / most, n)
        if (gap.power, gap.log) > (0, 0):
            return f"no: {pretty(condition)} is off by {gap.text(n)} as n grows"
    return "yes"


# Finding -------------------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def tables() -> Mapping[str, Table]:
    """Every table by id, found by walking the theme folders."""
    found: Iterator[Table] = (
        v for _, _, module in library_files() for v in vars(module).values() if isinstance(v, Table)
    )
    return {table.id: table for table in sorted(found, key=lambda t: t.id)}


def table_named(name: str) -> Table:
    """The table of that id."""
    if name not in tables():
        raise UnknownName("table", name, f"one of {sorted(tables())}", "`dpcheck tables` lists them.")
    return tables()[name]


# The check -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Regenerates:
    """Every cell on a method that the documents analyse follows from the claim it summarises."""

    table: Table
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if claim.relation != "<=" or not claim.formula.is_number:
            return Evidence(self.kind, Verdict.UNCHECKED, "the statement is not that every cell is large enough")
        return self.judge(regenerate(self.table).cells)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge([c for c in regenerate(self.table).cells if c.row == int(point["row"])])

    def judge(self, cells: Sequence[Compared]) -> Evidence:
        checked = [c for c in cells if c.status == "same" or c.differs]
        open_ = [c for c in cells if c.status == "no claim"]
        detail = "; ".join(c.text() for c in checked if c.differs) or "all that are compared agree up to constants"
        figure = f"{sum(c.status == 'same' for c in checked)} of {len(checked)} cells are what the claims give"
        wrong = next((c for c in checked if c.status == "smaller"), None)
        if wrong is not None:
            seen = {"row": wrong.row, "column": wrong.column, "printed": wrong.printed, "claim": wrong.regenerated}
            return Evidence(self.kind, Verdict.REFUTED, f"{figure}; {wrong.text()}", detail, counterexample=seen)
        if not checked or open_:
            missing = f"; {len(open_)} wait for claims" if open_ else ""
            return Evidence(self.kind, Verdict.UNCHECKED, figure + missing, detail)
        verdict = Verdict.SUPPORTED if any(c.differs for c in checked) else Verdict.PROVED
        return Evidence(self.kind, verdict, figure, detail)
