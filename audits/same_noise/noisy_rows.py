"""Rows: noisy numbers on both datasets under the same noise, and what they show of a guarantee, line by line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcheck.audits.same_noise.draws import GEOMETRIC, Draw
from dpcheck.audits.same_noise.hidden_shifts import EQUAL, Shifts, cost, shifts_of
from dpcheck.audits.same_noise.responses import EPS, Response, Units
from dpcheck.audits.same_noise.result import (
    KEPT,
    UNSEEN,
    VIOLATED,
    Hiding,
    Replayed,
    Verdict,
    interval,
    order_of,
    parameter_of,
)
from dpcheck.audits.same_noise.stage import Public
from dpcheck.bounds.language.guarantees import Guarantee

PLAINLY = 10  # times what was claimed: a loss that is more, however its noise is rounded
SLACK = 1e-6  # relative: what rounding may add to a cost, in doubles
ROUNDINGS = 16  # of floats, that two numbers may differ by and still be called the same
FINE = 0.01  # units of noise: where rounding moves it by more, it is none of its law


@dataclass(frozen=True, eq=False)
class Rows:
    """Noisy numbers on both datasets under the same noise, and how they respond to it."""

    first: np.ndarray
    second: np.ndarray
    ours: Response
    theirs: Response
    names: Sequence[str]
    eps: np.ndarray | float = EPS  # the rounding of the numbers' type

    @property
    def lost(self) -> np.ndarray:
        """What floats may have lost of each number."""
        return np.asarray(ROUNDINGS * self.eps * (np.abs(self.first) + np.abs(self.second)))

    def shifts(self, units: Units, public: Public) -> Shifts:
        """Of the noise, that hide how far they moved."""
        known = np.array([draw.seed in public for draw in units.draws], dtype=bool)[units.draw]
        rates = [-math.log1p(-(d.parameter or 0.0)) if d.law == GEOMETRIC else 0.0 for d in units.draws]
        equal = max(EQUAL, self.slack if self.slack > SLACK else 0.0)
        return shifts_of(self.moved, self.ours, self.theirs, self.lost, np.array(rates)[units.draw], known, equal)

    @property
    def slack(self) -> float:
        """What rounding may add to a cost, relatively."""
        return max(SLACK, 100 * float(np.max(self.eps, initial=0.0)))

    @property
    def moved(self) -> np.ndarray:
        return np.asarray(self.second - self.first)

    def judged(self, guarantee: Guarantee, result: Replayed, units: Units, public: Public) -> Replayed:
        """What they show of the guarantee, if all of them are released."""
        shifts = self.shifts(units, public)
        bare = [*shifts.bare]
        if bare and np.all(np.abs(self.moved[bare]) <= self.lost[bare]):
            shifts = replace(shifts, bare=(), unclear="a number moved by as little as the rounding of floats")
        low, high = cost(shifts, guarantee)
        lost = self._lost_of_noise(shifts)
        verdict = verdict_of(low, high, result.claimed, self.slack + lost / result.claimed)
        if low <= PLAINLY * result.claimed and lost > FINE:
            shifts, verdict = replace(shifts, unclear="its noise is as fine as the rounding of floats"), UNSEEN
            low, high = cost(shifts, guarantee)
        unseen = () if verdict != UNSEEN else (shifts.unclear or "no account is tight enough for this noise",)
        hidings = hidings_of(shifts, self.ours, self.moved, units, guarantee)
        leaks = leaks_of(shifts, self.moved, self.names, public, units.draws)
        return replace(result, verdict=verdict, low=low, high=high, hidings=hidings, leaks=leaks, unseen=unseen)

    def _lost_of_noise(self, shifts: Shifts) -> float:
        """How much rounding may change the shifts of the noise, all together."""
        scale = np.zeros(len(self.first))
        np.maximum.at(scale, self.ours.row, np.abs(self.ours.slope))
        return float(np.sum(self.lost[shifts.row] / scale[shifts.row]))


def verdict_of(low: float, high: float, claimed: float, slack: float = SLACK) -> Verdict:
    """What bounds on the loss say of the claim, up to rounding."""
    most = claimed * (1 + slack)
    return VIOLATED if low > most else KEPT if high <= most else UNSEEN


def hidings_of(
    shifts: Shifts, found: Response, moved: np.ndarray, units: Units, guarantee: Guarantee
) -> tuple[Hiding, ...]:
    """Each line that draws noise to hide a movement, the dearest first."""
    made = []
    numbers = units.draw[shifts.unit] if len(shifts.unit) else np.empty(0, dtype=int)
    lines: dict[tuple[Any, str], list[int]] = {}
    for number, law in zip(numbers, shifts.law, strict=True):
        lines.setdefault((units.draws[number].site, str(law)), []).append(int(number))
    for (site, law), drawn in lines.items():
        here = np.isin(numbers, drawn) & (shifts.law == law)
        each = {number: cost(shifts.of(here & (numbers == number)), guarantee) for number in set(drawn)}
        dearest = max(each, key=lambda number: each[number])
        own = shifts.of(here & (numbers == dearest))
        scale = float(np.abs(found.slope[np.isin(found.unit, own.unit)]).max(initial=0.0))
        size = float(np.linalg.norm(moved[own.row], 2 if law == "Gaussian" else 1))
        words = f"adds {law}({scale:.4g}) to a value that moved by {size:.4g}"
        if np.any(own.rescaled):
            ratio = own.ratio[own.rescaled][0]
            words = f"adds {law}({scale:.4g}), on the second dataset {law}({scale * ratio:.4g})"
        both = cost(shifts.of(here), guarantee)
        often = f" (the dearest of {len(each)} draws, which are counted together)" if len(each) > 1 else ""
        shown = f"{parameter_of(guarantee)} {interval(*both)}{order_of(guarantee)}"
        made.append(Hiding(site, law, scale, size, both, f"{words}{often}: {shown}"))
    return tuple(sorted(made, key=lambda hiding: (-hiding.cost[0], -hiding.cost[1])))


def leaks_of(
    shifts: Shifts, moved: np.ndarray, names: Sequence[str], public: Public, draws: Sequence[Draw]
) -> tuple[str, ...]:
    """What moved with no noise of its own."""
    found = []
    if shifts.bare:
        row = shifts.bare[0]
        more = f" (and {len(shifts.bare) - 1} more)" if len(shifts.bare) > 1 else ""
        found.append(f"{names[row]} moved by {abs(moved[row]):.4g} with no noise on it{more}")
    if shifts.clashing:
        found.append(f"{' and '.join(names[row] for row in shifts.clashing[:3])} have too little noise of their own")
    seeded = [draw for draw in draws if draw.seed in public]
    if found and seeded:
        found.append(
            f"{seeded[0].site} draws from a generator with the fixed seed {seeded[0].seed}: everybody knows it"
        )
    return tuple(found)
