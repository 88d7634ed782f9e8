"""Rankings and needs: lines that wrap between words only, so that ids survive at any width; rows, JSON and HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from dpcheck.bounds.language.claim import pretty
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.report.layout import indented
from dpcheck.report.terminal import coloured
from dpcheck.report.theory import sentence
from dpcheck.theory.claim_choice import verdict_of

if TYPE_CHECKING:  # they show themselves by what is here
    from dpcheck.theory.method_bounds import Findings
    from dpcheck.theory.need import NeedGroup, Needs
    from dpcheck.theory.ranking import Ranked, RankedGroup, Ranking
    from dpcheck.theory.task import Bound, LearningTask

TITLES = (
    "kind",
    "place",
    "method",
    "bound",
    "constant",
    "verdict",
    "claim",
    "T",
    "gradients",
    "records_a_step",
    "vectors_held",
    "given",
    "caution",
)
NEED_TITLES = ("kind", "place", "method", "n", "constant", "verdict", "claim", "caution")
NOTHING = "No method here has a bound for such a problem."


@dataclass(frozen=True)
class Presentation:
    """How a finding is shown: on a terminal, as rows of a pipe under their titles, as plain values, in a notebook."""

    page: Callable[[Any], Group]
    titles: tuple[str, ...]
    rows: Callable[[Any], list[tuple[str, ...]]]
    plain: Callable[[Any], dict[str, Any]]
    html: Callable[[Any], str]


# The problem ---------------------------------------------------------------------------------------
def problem_lines(task: LearningTask, with_n: bool = True) -> list[str]:
    """What was asked, and the constants that follow from it."""
    problem = task.problem
    sizes = [f"n = {problem.n:g}"] if with_n else []
    sizes += [f"d = {problem.d:g}", f"ε = {task.guarantee.eps:g}"]
    sizes += [] if isinstance(task.guarantee, PureDP) else [f"δ = {task.guarantee.delta:g}"]
    regulariser = f" + {problem.l2:g}/2·‖w‖²" if problem.l2 > 0 else ""
    loss = f"{type(problem.loss).__name__} loss{regulariser}, rows of norm at most {problem.row_bound:g}"
    apart = " without the regulariser" if problem.l2 > 0 else ""
    slope = f"L = {problem.data_lipschitz:.4g}" if math.isfinite(problem.data_lipschitz) else "no L"
    derived = [f"{slope} and β = {problem.smoothness - problem.l2:.4g}{apart}"]
    derived += [f"μ = {problem.strong_convexity:.4g}"] if problem.strong_convexity > 0 else []
    derived += [f"‖ŵ‖ ≤ D = {task.radius:.4g}{' by default' if 'D' in task.assumed else ''}"] if problem.convex else []
    given = [f"{row.printed} = {task.given[row.name]:g}" for row in TABLE.values() if row.name in task.given]
    lines = [f"{loss}; {', '.join(sizes)}; {task.model} model."]
    lines += [f"{task.losses.capitalize()} losses: {', '.join(derived)}."]
    return lines + ([f"Given: {', '.join(given)}."] if given else [])


def lower_words(lower: Bound) -> str:
    """The claim of a lower bound and its verdict."""
    return f"{lower.claim.id}, {verdict_of(lower.claim)}: some losses of this class, worst dataset"


# Ranking -------------------------------------------------------------------------------------------
def ranking_page(found: Ranking) -> Group:
    """The problem, then each kind of bound with its headline, its methods and the lower bound."""
    lines: list[Any] = [Text(line) for line in problem_lines(found.task)]
    for group in found.groups:
        lines += [Text(""), Text(sentence(str(group.kind)), style="bold"), Text(group.headline)]
        for place, row in enumerate(group.rows, 1):
            lines += ranked_lines(place, row, group)
        if group.lower is not None:
            lines.append(Text(f"No method: ≥ C·{group.lower.here[0]:.4g} ({lower_words(group.lower)})"))
        lines += [Text(group.lost)] if group.lost else []
    lines += [Text(line) for line in closing_lines(found)]
    return Group(*lines)


def ranked_lines(place: int, row: Ranked, group: RankedGroup) -> Iterator[Any]:
    """Place, method, bound and verdict; then claim, cost and what is taken as given."""
    head = Text(f"{place}. {row.method}  {bound_text(row, group)}  ")
    yield head + coloured(row.verdict)
    yield indented(row.source + (f", in place of {row.replaces}" if row.replaces else ""), 3)
    if str(row.cost):
        yield indented(str(row.cost), 3)
    if row.bound.undecided:
        yield indented(f"given {'; '.join(row.bound.undecided)}", 3)
    if row.caution:
        yield indented(Text(row.caution, style="yellow"), 3)


def bound_text(row: Ranked, group: RankedGroup) -> str:
    value, steps = row.bound.here
    at = f" at T = {steps:g}" if steps is not None else ""
    return f"≤ {'' if group.explicit else 'C·'}{value:.4g}{at}"


def closing_lines(found: Findings) -> list[str]:
    """Methods without a bound here, and bounds that are refuted."""
    lines = [] if found.groups else [NOTHING]
    lines += [f"Not ranked: {method}, {why}." for method, why in found.left_out.items()]
    lines += [f"Refuted, so not ranked: {', '.join(found.refuted)}."] if found.refuted else []
    return ["", *lines] if lines else []


def ranking_rows(found: Ranking) -> list[tuple[str, ...]]:
    """One a method and kind, as in TITLES; at place 0 the lower bound of a kind, and what the central model has."""
    rows: list[tuple[str, ...]] = []
    for group in found.groups:
        constant = "known" if group.explicit else "C"
        for place, row in enumerate(group.rows, 1):
            value, steps = row.bound.here
            cost = row.cost
            counts = ("" if x is None else f"{x:.10g}" for x in (steps, cost.gradients, cost.records, cost.vectors))
            given = "; ".join(row.bound.undecided)
            head = (str(group.kind), str(place), row.method, f"{value:.6g}", constant, row.verdict, row.source)
            rows.append((*head, *counts, given, row.caution))
        if group.lower is not None:
            claim = group.lower.claim
            head = (str(group.kind), "0", "lower bound", f"{group.lower.here[0]:.6g}", "C", verdict_of(claim), claim.id)
            rows.append((*head, *[""] * (len(TITLES) - len(head))))
        if group.central is not None:
            best, name = group.central, f"central model: {group.central.method}"
            head = (str(group.kind), "0", name, f"{best.value:.6g}", constant, best.verdict, best.source)
            rows.append((*head, *[""] * (len(TITLES) - len(head))))
    return rows


def ranking_json(found: Ranking) -> dict[str, Any]:
    """Plain values only."""
    rows = [dict(zip(TITLES, row, strict=True)) for row in ranking_rows(found)]
    for row in rows:
        row["bound"] = float(row["bound"])  # type: ignore[assignment]
    refuted = {claim: {"severity": how, "instead": instead} for claim, (how, instead) in found.refuted.items()}
    return {
        "problem": problem_lines(found.task),
        "rows": rows,
        "headlines": {str(group.kind): group.headline for group in found.groups},
        "formulas": {row.bound.claim.id: pretty(row.bound.formula) for g in found.groups for row in g.rows},
        "not_ranked": dict(found.left_out),
        "refuted": refuted,
    }


# Needs ---------------------------------------------------------------------------------------------
def needs_page(found: Needs) -> Group:
    """The problem, then each kind of bound with the least n of every method."""
    lines: list[Any] = [Text(line) for line in problem_lines(found.task, with_n=False)]
    for group in found.groups:
        lines += [Text(""), Text(sentence(str(group.kind)), style="bold"), Text(need_headline(found, group))]
        for place, row in enumerate(group.rows, 1):
            lines.append(Text(f"{place}. {row.method}  n ≥ {size_text(row.n, group)}  ") + coloured(row.verdict))
            lines.append(indented(row.source, 3))
        if group.lower is not None and group.least is not None:
            lines.append(Text(f"No method: n ≥ C·{group.least:.4g} ({lower_words(group.lower)})"))
    lines += [Text(line) for line in closing_lines(found)]
    return Group(*lines)


def size_text(size: float, group: NeedGroup) -> str:
    return f"{size:.10g}" if group.explicit else f"C·{size:.4g}"


def need_headline(found: Needs, group: NeedGroup) -> str:
    meaning = "is enough for" if group.explicit else "is of the order that is enough for"
    return f"This n {meaning} an error of {found.error:g}:"


def need_rows(found: Needs) -> list[tuple[str, ...]]:
    """One a method and kind, as in NEED_TITLES; the lower bound of a kind stands at place 0."""
    rows: list[tuple[str, ...]] = []
    for group in found.groups:
        for place, row in enumerate(group.rows, 1):
            head = (str(group.kind), str(place), row.method, f"{row.n:.10g}")
            rows.append((*head, "known" if group.explicit else "C", row.verdict, row.source, ""))
        if group.lower is not None and group.least is not None:
            claim = group.lower.claim
            head = (str(group.kind), "0", "lower bound", f"{group.least:.10g}")
            rows.append((*head, "C", verdict_of(claim), claim.id, ""))
    return rows


def needs_json(found: Needs) -> dict[str, Any]:
    """Plain values only."""
    rows = [dict(zip(NEED_TITLES, row, strict=True)) for row in need_rows(found)]
    for row in rows:
        row["n"] = float(row["n"])  # type: ignore[assignment]
    problem = problem_lines(found.task, with_n=False)
    return {"problem": problem, "error": found.error, "rows": rows, "not_ranked": dict(found.left_out)}


def unranked_rows(found: Findings, titles: Sequence[str]) -> list[tuple[str, ...]]:
    """Methods without a bound here, with the reason in the last column."""
    return [("not ranked", "", method, *[""] * (len(titles) - 4), why) for method, why in found.left_out.items()]


# HTML ----------------------------------------------------------------------------------------------
def ranking_html(found: Ranking) -> str:
    """For a notebook: a table a kind."""
    notes = [*closing_lines(found)]
    return page_html(problem_lines(found.task), TITLES, ranking_rows(found), notes)


def needs_html(found: Needs) -> str:
    """For a notebook: a table a kind."""
    head = [*problem_lines(found.task, with_n=False), f"Error at most {found.error:g}."]
    return page_html(head, NEED_TITLES, need_rows(found), closing_lines(found))


def page_html(head: Sequence[str], titles: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """Paragraphs, one table for each kind (the first column), and paragraphs."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"

    parts = [f"<p>{escape(line)}</p>" for line in head]
    for kind in dict.fromkeys(row[0] for row in rows):
        body = "".join(cells("td", row[1:]) for row in rows if row[0] == kind)
        parts.append(f"<h4>{escape(sentence(kind))}</h4><table>{cells('th', titles[1:])}{body}</table>")
    return "".join([*parts, *(f"<p>{escape(line)}</p>" for line in notes if line)])


RANKING = Presentation(ranking_page, TITLES, ranking_rows, ranking_json, ranking_html)
NEEDS = Presentation(needs_page, NEED_TITLES, need_rows, needs_json, needs_html)
