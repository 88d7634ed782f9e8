"""Replayed: what replay saw, in words."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

from dpcheck.audits.pairs.pair_in_words import pair_words
from dpcheck.audits.same_noise.draws import Site
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, RenyiDP

Verdict = Literal["violated", "kept on this pair", "not seen through"]
VIOLATED: Verdict = "violated"
KEPT: Verdict = "kept on this pair"
UNSEEN: Verdict = "not seen through"
LONGEST = 12  # lines of code shown


@dataclass(frozen=True)
class Hiding:
    """A line that draws noise, and what of a movement it hides: `moved` in the norm of its law, by noise of `scale`."""

    site: Site
    law: str
    scale: float
    moved: float
    cost: tuple[float, float]
    words: str = ""

    def __str__(self) -> str:
        return f"{self.site} {self.words}"


@dataclass(frozen=True, eq=False)
class Replayed:
    """The outcome of a replay.

    `low` and `high` bound what the pair shows of the guarantee's parameter (epsilon, rho or mu; `claimed` is its
    value). `hidings` are the lines that add noise to what moved, `leaks` what moved without, `unseen` why the verdict
    is "not seen through": what replay cannot read, and leaves to `dpcheck.audit`.
    """

    verdict: Verdict
    guarantee: Guarantee
    low: float
    high: float
    claimed: float
    pair: tuple[Any, Any] = field(repr=False)
    hidings: tuple[Hiding, ...] = ()
    leaks: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    runs: int = 0
    seed: int = 0
    pairs: int = 1
    seconds: float = 0.0

    @property
    def violated(self) -> bool:
        """Whether the pair shows more than was claimed."""
        return self.verdict == VIOLATED

    @property
    def kept(self) -> bool:
        """Whether replay saw everything, and no more than was claimed."""
        return self.verdict == KEPT

    @property
    def finding(self) -> str:
        """What the pair shows, and what was claimed."""
        name = parameter_of(self.guarantee)
        at = f" at delta = {self.guarantee.delta:g}" if isinstance(self.guarantee, ApproxDP) else ""
        shown = f"> {self.low:.4g}" if self.violated and self.low == self.claimed else interval(self.low, self.high)
        return f"{name} {shown}{at}, claimed {self.claimed:.4g}"

    def lines(self) -> list[tuple[str, str]]:
        """The result in named lines, the verdict first."""
        said = self.verdict.upper() if self.violated else self.verdict
        if self.pairs > 1 and self.kept:
            said = f"kept on these {self.pairs} pairs"
        shown = [("line", str(hiding)) for hiding in self.hidings[:LONGEST]]
        if len(self.hidings) > LONGEST:
            shown.append(("line", f"and {len(self.hidings) - LONGEST} more"))
        return [
            ("verdict", f"{said}: {self.guarantee}"),
            ("found", self.finding),
            *[("leak", text) for text in self.leaks],
            *shown,
            *[("unseen", text) for text in self.unseen],
            *[("note", text) for text in self.notes],
            ("pair", pair_words(self.pair)),
            ("cost", f"{self.runs} runs, {self.seconds:.3f} s"),
            ("replay", f"seed={self.seed}"),
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<9}{text}" for name, text in self.lines())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(t)}</td></tr>" for n, t in self.lines())
        return f"<table class='dpcheck-replay'>{rows}</table>"

    def to_json(self) -> str:
        """Its lines and numbers, as a JSON object."""
        numbers = {"low": self.low, "high": self.high, "claimed": self.claimed, "seconds": self.seconds}
        plain: dict[str, Any] = {name: v if math.isfinite(v) else str(v) for name, v in numbers.items()}
        plain |= {"verdict": self.verdict, "guarantee": str(self.guarantee), "pair": pair_words(self.pair)}
        plain |= {"runs": self.runs, "seed": self.seed, "pairs": self.pairs, "lines": [str(h) for h in self.hidings]}
        return json.dumps(plain | {"leaks": self.leaks, "unseen": self.unseen, "notes": self.notes})


def parameter_of(guarantee: Guarantee) -> str:
    """The guarantee's own number."""
    return "rho" if isinstance(guarantee, ZCDP) else "mu" if isinstance(guarantee, GaussianDP) else "epsilon"


def claimed_by(guarantee: Guarantee) -> float:
    """Its value."""
    name = {"rho": "rho", "mu": "mu"}.get(parameter_of(guarantee), "eps")
    return float(getattr(guarantee, name))


def interval(low: float, high: float) -> str:
    """In words; one number where both agree.

    >>> interval(2.0, 2.0), interval(0.0, float("inf")), interval(float("inf"), float("inf"))
    ('2', 'unknown', 'infinite')
    """
    if math.isinf(low):
        return "infinite"
    if math.isinf(high):
        return f">= {low:.4g}" if low > 0 else "unknown"
    if high - low <= 1e-3 * high:
        return f"{low:.4g}"
    return f"between {low:.4g} and {high:.4g}" if low > 0 else f"<= {high:.4g}"


def order_of(guarantee: Guarantee) -> str:
    """What a cost is measured at, where that needs saying."""
    if isinstance(guarantee, ApproxDP):
        return f" at delta {guarantee.delta:g}"
    return f" at order {guarantee.alpha:g}" if isinstance(guarantee, RenyiDP) else ""
