"""Pictures of bounds and measurements, made to be read without the code. Needs matplotlib."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.report.theory import point_text
from dpcheck.theory.likeness import error_in_words

if TYPE_CHECKING:
    from dpcheck.theory.comparison import Alike, Comparison, Side
    from dpcheck.theory.measurement import Measurement

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # told apart by the colour-blind too
GREY, POSSIBLE = "#555555", "#e9e9e9"
ROLES = {"stated": ("#D55E00", "-", 4.5), "certified": ("#009E73", "-", 1.8), "lower": ("black", "--", 1.5)}
MAP_POINTS = 160


def new_figure(width: float, height: float) -> Any:
    """A figure that belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("matplotlib", "plotting", "plot") from error
    return Figure(figsize=(width, height), layout="constrained")


def saved(figure: Any, path: Any) -> Any:
    """Write the figure to a file if one is named."""
    if path is not None:
        target = Path(path)
        if not target.resolve().parent.is_dir():
            raise InvalidInput("output file", str(path), "in a folder that exists", "Create the folder first.")
        kinds = figure.canvas.get_supported_filetypes()
        if target.suffix.lstrip(".").lower() not in kinds:
            limit = f"one that ends in .{', .'.join(sorted(kinds))}"
            raise InvalidInput("output file", str(path), limit, "For example out.png.")
        figure.savefig(target, dpi=150)
    return figure


def axis_label(symbol: sympy.Symbol) -> str:
    """`n, number of records`."""
    row = TABLE[symbol]
    return f"{row.printed}, {row.meaning}"


# Comparison ----------------------------------------------------------------------------------------
def comparison_figure(found: Comparison) -> Any:
    """One row a kind of bound. Left: the bounds over a symbol. Right: who has the least over two symbols."""
    two = any(maps_winners(group) for group in found.groups)
    heights = [5.8 + 0.2 * sum(1 + len(legend_text(s)) // 78 for s in group.sides) for group in found.groups]
    figure = new_figure(12.5 if two else 7.0, sum(heights))  # room for the legends
    rows = figure.subplots(len(heights), 2 if two else 1, squeeze=False, height_ratios=heights)
    ends = False
    for panels, group in zip(rows, found.groups, strict=True):
        ends |= draw_bounds(panels[0], found, group)
        if maps_winners(group):
            draw_winners(panels[1], found, group)
        elif two:
            panels[1].set_visible(False)
    figure.suptitle("Upper bounds; only those of one kind stand in one panel", fontsize=12)

    stops = "A line ends where a hypothesis of its claim fails." if ends else ""
    rates = "" if all(group.explicit for group in found.groups) else "Constants of rates are taken as 1."
    notes = [f"At {point_text(found)}.", rates, found.caution, stops]
    figure.supxlabel(
        textwrap.fill(" ".join(note for note in notes if note), 150 if two else 90), fontsize=8, color=GREY
    )
    return figure


def maps_winners(group: Alike) -> bool:
    """Whether there is a second symbol, and somebody to win against."""
    return group.against is not None and len(group.sides) > 1


def draw_bounds(ax: Any, found: Comparison, group: Alike) -> bool:
    """Each bound as a line, the lower bound, the corridor between, the point. Says whether a line ends midway."""
    name = str(found.over)
    grid = np.geomspace(*found.range_of(found.over), 300)
    lines = [found.curve(side, **{name: grid}) for side in group.sides]
    for side, line, colour in zip(group.sides, lines, colours_of(found, group), strict=True):
        ax.plot(grid, np.broadcast_to(line, grid.shape), color=colour, lw=2, label=legend_text(side))
    if group.lower is not None:
        floor = found.curve(group.lower, **{name: grid})
        ax.plot(grid, floor, color="black", ls="--", lw=1.5, label=legend_text(group.lower))
        with np.errstate(all="ignore"):
            roof = np.nanmin(np.where(np.isnan(lines), np.inf, lines), axis=0)
        ax.fill_between(
            grid,
            floor,
            roof,
            where=np.isfinite(roof) & (roof > floor),
            color=POSSIBLE,
            zorder=0,
            label="between what is possible and what is promised",
        )
    here = found.values[name]
    ax.axvline(here, color=GREY, ls=":", lw=1)
    ax.annotate(
        f"asked for: {TABLE[found.over].printed} = {here:g}",
        (here, 0.965),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=8,
        color=GREY,
    )
    measure = name_of(group.kind.case.measure)
    ax.set(xscale="log", yscale="log", xlabel=axis_label(found.over), ylabel=f"bound on the {measure}")
    ax.set_title(textwrap.fill(str(group.kind), 75), fontsize=9)
    legend_below(ax)
    ax.grid(alpha=0.25)
    return bool(np.isnan(lines).any())


def colours_of(found: Comparison, group: Alike) -> list[str]:
    """A name has one colour in all panels."""
    names = list(dict.fromkeys(side.name for side in found.sides))
    return [COLOURS[names.index(side.name) % len(COLOURS)] for side in group.sides]


def legend_below(ax: Any, handles: Any = None, columns: int = 1) -> None:
    """A legend under the axes, where it hides no line."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    labels = [textwrap.fill(handle.get_label(), 78 // columns) for handle in handles]
    ax.legend(
        handles, labels, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=columns, frameon=False
    )


def legend_text(side: Side) -> str:
    """Whose bound, from which claim, with which verdict."""
    least = "" if side.explicit else ", constant 1"
    return f"{side.name}: {side.source} ({side.verdict}{least})"


def name_of(measure: sympy.Symbol) -> str:
    """A measure in words, with its formula."""
    return f"{error_in_words(measure)}, {TABLE[measure].printed}"


def draw_winners(ax: Any, found: Comparison, group: Alike) -> None:
    """A map: the colour says whose bound is least; the line between two colours is where they cross."""
    from matplotlib.colors import ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    assert group.against is not None
    x, y = (np.geomspace(*found.range_of(s), MAP_POINTS) for s in (found.over, group.against))
    here = {str(found.over): x[None, :], str(group.against): y[:, None]}
    heights = np.stack([np.broadcast_to(found.curve(s, **here), (len(y), len(x))) for s in group.sides])
    winner = np.where(
        np.isnan(heights).all(axis=0), -1, np.argmin(np.where(np.isnan(heights), np.inf, heights), axis=0)
    )
    colours = ["white", *colours_of(found, group)]
    ax.pcolormesh(
        x,
        y,
        winner,
        cmap=ListedColormap(colours),
        vmin=-1.5,
        vmax=len(group.sides) - 0.5,
        alpha=0.55,
        shading="nearest",
        rasterized=True,
    )
    labels: list[Any] = [
        Patch(facecolor=colours[k + 1], alpha=0.55, label=f"{s.name} has the least bound")
        for k, s in enumerate(group.sides)
        if np.any(winner == k)
    ]
    labels += [Patch(facecolor="white", edgecolor=GREY, label="no bound applies")] if np.any(winner == -1) else []
    logs = np.where(np.isnan(heights), np.inf, np.log(heights))
    for k in range(len(group.sides)):  # the edge of a winner's region is where it meets the least of the others
        others = np.min(np.delete(logs, k, axis=0), axis=0)
        both = np.isfinite(others) & np.isfinite(logs[k])
        gap = np.where(both, np.where(both, logs[k], 0) - np.where(both, others, 0), np.nan)
        if np.any(gap < 0) and np.any(gap > 0):
            ax.contour(x, y, gap, levels=[0.0], colors="black", linewidths=1.2)
    if len(np.unique(winner)) > 1:
        labels.append(Line2D([], [], color="black", lw=1.2, label="where two bounds are equal"))
    ax.plot(found.values[str(found.over)], found.values[str(group.against)], "k*", ms=13)
    labels.append(Line2D([], [], color="black", marker="*", ls="", ms=10, label="the point asked for"))
    legend_below(ax, labels, columns=2)
    ax.set(xscale="log", yscale="log", xlabel=axis_label(found.over), ylabel=axis_label(group.against))
    ax.set_title("who has the least bound", fontsize=10)


# Measurement ---------------------------------------------------------------------------------------
def measurement_figure(found: Measurement) -> Any:
    """Measured error with its band, against what is promised and what is possible."""
    figure = new_figure(8.6, 7.0)
    ax = figure.subplots()
    draw_corridor(ax, found)
    for line in found.lines:
        colour, style, width = ROLES[line.role]
        ax.plot(found.grid, line.values, style, color=colour, lw=width, label=line.label)
    ax.fill_between(found.grid, found.low, found.high, color=COLOURS[0], alpha=0.3, lw=0)
    interval = f"{100 * found.confidence:g}% confidence interval"
    ax.plot(
        found.grid,
        found.mean,
        "o-",
        color=COLOURS[0],
        lw=2,
        ms=5,
        label=f"measured: mean of {found.trials} runs (band: {interval} of the mean)",
    )
    ax.set(xscale="log", yscale="log", xlabel=axis_label(found.symbol), ylabel=name_of(found.measure))
    ax.set_xticks(found.grid, [f"{x:g}" for x in found.grid])
    ax.set_xticks([], minor=True)
    ax.grid(alpha=0.25)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), frameon=False)
    figure.suptitle(f"Measured error of {found.solver} and its bounds", fontsize=12)
    ax.set_title(textwrap.fill(found.setting, 100), fontsize=10)
    figure.supxlabel(textwrap.fill(" ".join(found.notes), 115), fontsize=8, color=GREY)
    return figure


def draw_corridor(ax: Any, found: Measurement) -> None:
    """Shade between the lower bound and the upper one that stands."""
    floor, roof = found.line("lower"), found.line("certified") or found.line("stated")
    if floor is not None and roof is not None:
        ax.fill_between(
            found.grid,
            floor.values,
            roof.values,
            where=roof.values > floor.values,
            color=POSSIBLE,
            zorder=0,
            label="between what is possible and what is promised",
        )
