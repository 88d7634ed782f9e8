"""The picture of a ranking: one panel a kind of bound, so that no line stands beside one it cannot be held against."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcheck.bounds.language.symbols import TABLE, n
from dpcheck.report.figures import COLOURS, GREY, axis_label, legend_below, new_figure

if TYPE_CHECKING:
    from dpcheck.theory.ranking import RankedGroup, Ranking

ACROSS = 2


def ranking_figure(found: Ranking) -> Any:
    """Each group's bounds over n, and the lower bound of its class; a method keeps its colour."""
    from dpcheck.report.ranking_page import problem_lines

    rows = max(1, math.ceil(len(found.groups) / ACROSS))
    figure = new_figure(6.4 * ACROSS, 5.0 * rows + 0.6)
    panels = figure.subplots(rows, ACROSS, squeeze=False).ravel()
    methods = sorted({row.method for group in found.groups for row in group.rows})
    colours = {method: COLOURS[k % len(COLOURS)] for k, method in enumerate(methods)}
    styles = {method: ("-", "--", "-.", ":")[k // len(COLOURS) % 4] for k, method in enumerate(methods)}
    size = float(found.task.problem.n)
    grid = np.geomspace(max(2.0, size / 1e3), size * 1e3, 200)
    for ax, group in zip(panels, found.groups, strict=False):
        draw_group(ax, group, grid, size, colours, styles)
    for ax in panels[len(found.groups) :]:
        ax.set_visible(False)
    figure.suptitle(textwrap.fill(" ".join(problem_lines(found.task)), 110), fontsize=10)
    return figure


def draw_group(
    ax: Any, group: RankedGroup, grid: np.ndarray, size: float, colours: dict[str, str], styles: dict[str, str]
) -> None:
    """One kind: bounds, lower bound, the n asked for."""
    constant = "" if group.explicit else ", constant 1"
    for row in group.rows:
        label = f"{row.method}: {row.source} ({row.verdict}{constant})"
        line = row.bound.along(n=grid)
        ax.plot(grid, line, styles[row.method], color=colours[row.method], lw=2, label=label)
    if group.lower is not None:
        floor = group.lower.along(n=grid)
        ax.plot(grid, floor, color="black", ls="--", lw=1.2, label=f"lower bound: {group.lower.claim.id} (constant 1)")
    ax.axvline(size, color=GREY, ls=":", lw=1)
    ax.set(xscale="log", yscale="log", xlabel=axis_label(n), ylabel=TABLE[group.kind.case.measure].printed)
    ax.set_title(textwrap.fill(str(group.kind), 70), fontsize=8.5)
    ax.grid(alpha=0.25)
    legend_below(ax)
