"""README's picture: an audit's trade-off curve, and three verdicts of the record. Drawn as SVG, light and dark."""

from __future__ import annotations

import textwrap
from html import escape
from typing import Any

import numpy as np

import dpcheck as dp
from dpcheck.bounds.registry import library
from dpcheck.verdicts.verify import recorded
from tools.pages.blocks import ROOT

PATH = ROOT / "docs/images/audit.svg"
CLAIMS = ("zhang17.lemma2", "zhang17.lemma2.corrected", "zhang17.theorem1")
WIDTH, HEIGHT = 900, 360
LEFT, TOP, SIDE = 58, 58, 240  # the square that shows the errors of a test
ALT = "Left: a noisy mean's measured trade-off curve lies below the claimed one. Right: three statements with verdicts."
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
.head { font-weight: 600; font-size: 14px; }
.small { font-size: 12px; fill: #57606a; }
.badge { font-weight: 600; font-size: 11px; fill: #ffffff; }
.found { font-weight: 600; fill: #cf222e; }
.page { fill: #ffffff; stroke: #d0d7de; }
.card { fill: #f6f8fa; }
.axis { stroke: #8c959f; fill: none; }
.claimed { stroke: #57606a; stroke-dasharray: 5 4; fill: none; }
.forbidden { fill: #8c959f; fill-opacity: .16; }
.seen { stroke: #0969da; stroke-width: 2; fill: none; }
.band { fill: #0969da; fill-opacity: .22; }
.bad { fill: #cf222e; } .good { fill: #1a7f37; } .fair { fill: #9a6700; }
@media (prefers-color-scheme: dark) {
 text { fill: #e6edf3; } .small { fill: #9198a1; } .found { fill: #ff7b72; }
 .page { fill: #0d1117; stroke: #30363d; } .card { fill: #161b22; }
 .seen { stroke: #58a6ff; } .band { fill: #58a6ff; } .claimed { stroke: #9198a1; }
}"""


def svg() -> str:
    """The whole picture; the same bits on every run."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{ALT}">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
        *audit_panel(),
        *verdict_panel(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def audit_panel() -> list[str]:
    """README's own example: half the noise that its claim needs."""

    def noisy_mean(data: Any, rng: np.random.Generator, trials: int) -> Any:
        return data.mean() + rng.laplace(scale=0.5 / len(data), size=trials)

    claim = dp.PureDP(1.0)
    near = dp.replace_one(low=0, high=1, n=10)
    result = dp.audit(noisy_mean, neighbours=near, guarantee=claim, max_trials=100_000)
    assert result.curve is not None
    return [text(24, 32, "What an attacker sees", "head"), *curves(result.curve, claim), *axes(), *findings(result)]


def curves(curve: dp.audits.Curve, claim: dp.Guarantee) -> list[str]:
    """What the claim forbids, what was measured with its band, the claim's own line."""
    order, grid = np.argsort(curve.type_one), np.linspace(0, 1, 101)
    x, middle, low, high = (
        values[order] for values in (curve.type_one, curve.type_two, curve.type_two_low, curve.type_two_high)
    )
    allowed = claim.tradeoff(grid)
    return [
        f'<polygon class="forbidden" points="{points(np.append(grid, 0), np.append(allowed, 0))}"/>',
        f'<polygon class="band" points="{points(np.append(x, x[::-1]), np.append(low, high[::-1]))}"/>',
        f'<polyline class="seen" points="{points(x, middle)}"/>',
        f'<polyline class="claimed" points="{points(grid, allowed)}"/>',
    ]


def axes() -> list[str]:
    """With their names."""
    middle, bottom = TOP + SIDE / 2, TOP + SIDE
    turned = f'transform="translate(22 {middle:.0f}) rotate(-90)"'
    return [
        f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{LEFT + SIDE}"/>',
        *(text(LEFT - 6, bottom - SIDE * tick + 4, f"{tick:g}", "small", "end") for tick in (0, 0.5, 1)),
        *(text(LEFT + SIDE * tick, bottom + 16, f"{tick:g}", "small", "middle") for tick in (0.5, 1)),
        text(LEFT + SIDE / 2, bottom + 34, "false alarms of a test", "small", "middle"),
        f'<text class="small" text-anchor="middle" {turned}>misses</text>',
    ]


def findings(result: dp.AuditResult) -> list[str]:
    """What the curves show, in words."""
    lines = {
        22: ("claimed: 1-DP allows", "small"),
        38: ("nothing below this line", "small"),
        70: (f"found: ε ≥ {result.epsilon_lower:.3g}", "found"),
        88: (f"{result.trials:,} runs on each dataset", "small"),
    }
    return [text(LEFT + 96, TOP + down, words, style) for down, (words, style) in lines.items()]


def points(x: np.ndarray, y: np.ndarray) -> str:
    """Errors from 0 to 1, as places in the square."""
    return " ".join(f"{LEFT + SIDE * a:.1f},{TOP + SIDE * (1 - b):.1f}" for a, b in zip(x, y, strict=True))


def verdict_panel() -> list[str]:
    """What is recorded of three statements."""
    left, width, record = 360, 518, recorded()
    parts = [text(left, 32, "What the theorems are worth", "head")]
    for k, claim in enumerate(CLAIMS):
        top, row, statement = 50 + 98 * k, record[claim], library[claim]
        verdict = row["verdict"]
        figure = next(piece["figure"] for piece in row["evidence"] if piece["verdict"] == verdict)
        tone = {"REFUTED": "bad", "PROVED": "good", "CERTIFIED": "good"}.get(verdict, "fair")
        badge, edge = 7.6 * len(verdict) + 18, left + width - 12
        says, why = (short(words) for words in (statement.says, row.get("severity") or figure))
        parts += [
            f'<rect class="card" x="{left}" y="{top}" width="{width}" height="88" rx="6"/>',
            text(left + 14, top + 23, claim, "head"),
            f'<rect class="{tone}" x="{edge - badge:.0f}" y="{top + 9}" width="{badge:.0f}" height="20" rx="10"/>',
            text(edge - badge / 2, top + 23, verdict, "badge", "middle"),
            text(left + 14, top + 41, says, "small"),
            text(left + 14, top + 60, statement.text()),
            text(left + 14, top + 78, why, "small"),
        ]
    return parts


def text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    """Words at a place."""
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{style}" text-anchor="{anchor}">{escape(words)}</text>'


def short(words: str) -> str:
    """In one line of a card."""
    return textwrap.shorten(words, 82, placeholder=" ...")
