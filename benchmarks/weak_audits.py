"""Solvers whose worst pair an audit hardly tells apart: how far it reaches, what is known exactly, and why.

Run: python -m benchmarks.weak_audits [trials]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dpcheck as dp
from benchmarks.pages import write_section
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.privacy.release import Released
from dpcheck.problems.problem import Problem
from dpcheck.problems.softmax import softmax_problem
from dpcheck.solver import Solver
from dpcheck.solvers.finding import solvers

TRIALS, ALPHA, LEAST = 20_000, 0.05, 1 / 3
LITTLE, LARGE = 0.01, 2.0  # no figure is taken to be less; what sampling must be worth to be the reason


def softmax_pair(n: int = 5) -> tuple[Problem, Problem]:
    """Three classes, all rows alike; one changes its label."""
    first = softmax_problem(np.ones((n, 1)), np.zeros(n), 3)
    return first, first.replace(0, [1.0], 1)


def subjects() -> dict[str, tuple[Solver, Any]]:
    """Every registered solver on its worst pair, and the losses of several scores."""
    found: dict[str, tuple[Solver, Any]] = {}
    for name, kind in sorted(solvers().items()):
        solver = kind.example().solver
        found[name] = solver, solver.worst_pair()
    return found | {"dp_gd, softmax": (dp.solvers.DPGD(steps=10, step_size=0.5), softmax_pair())}


def guarantee_of(solver: Solver, data: Any) -> Guarantee:
    """Of epsilon 1, as the solver takes it."""
    for guarantee in (solver.example().guarantee, ApproxDP(1.0, 1e-3), PureDP(1.0)):
        try:
            if guarantee is not None and solver.calibrated(data, guarantee):
                return guarantee
        except InvalidInput:
            continue
    raise AssertionError(f"{solver.name} takes no guarantee")


def reached(solver: Solver, pair: Any, guarantee: Guarantee, trials: int, *, transcript: bool) -> float | None:
    """The lower bound on epsilon, at 95%; None where a transcript has no density."""
    mechanism = solver.mechanism(guarantee, transcript=transcript)
    try:
        how = {"max_trials": trials, "alpha": ALPHA, "seed": 0, "executor": 1}
        return float(dp.audit(mechanism, pair=pair, guarantee=guarantee, **how).epsilon_lower)
    except InvalidInput:
        return None


def tight(released: Released, guarantee: Guarantee) -> float | None:
    """A certified lower bound on the epsilon of all that the account counts as seen."""
    try:
        return released.epsilon(float(guarantee.parameters["delta"])).low
    except (InvalidInput, KeyError):
        return None


def unsampled(released: Released) -> Released:
    """The same noise where every step asks for the record."""
    first, *others = (replace(part, sampling=None) for part in released.parts)
    return first.followed_by(*others) if others else first


@dataclass(frozen=True)
class Figures:
    """Bounds on epsilon, each at most the one before: what is claimed, certified to be reached, audited."""

    claimed: float
    certified: float | None
    certified_unsampled: float | None
    transcript: float | None
    output: float

    def reason(self) -> str:
        """The step from one figure to the next that loses the most, by its factor."""
        lost: dict[str, float] = {}
        known, before = True, self.claimed
        if self.certified is not None:
            lost["slack in the analysis"] = before / max(LITTLE, self.certified)
            before = self.certified
        else:
            known = False
        if self.transcript is not None:
            lost[self.attack() if known else "weak attack or slack"] = before / max(LITTLE, self.transcript)
            before = self.transcript
            lost["hidden iterates"] = before / max(LITTLE, self.output)
        else:
            lost["hidden iterates or weak attack"] = before / max(LITTLE, self.output)
        why = max(lost, key=lambda name: lost[name])
        return f"{why} ({lost[why]:.1f}x)"

    def attack(self) -> str:
        """Why the pair does not show what the account counts: chance hides it, or nothing that we know of.

        The account adds up the rare runs that draw the record often; an audit of so many runs hardly meets them. So
        it is amplification where the same noise would be worth LARGE times the epsilon without sampling.
        """
        if self.certified is None or self.certified_unsampled is None:
            return "weak attack"
        return "amplification" if self.certified_unsampled > LARGE * self.certified else "weak attack"


def shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def main(trials: int = TRIALS) -> None:
    """Audit all, list the weak."""
    rows = []
    for name, (solver, pair) in subjects().items():
        guarantee = guarantee_of(solver, pair[0])
        claimed = float(guarantee.parameters["eps"])
        out = reached(solver, pair, guarantee, trials, transcript=False)
        print(name, shown(out), "of", claimed, flush=True)
        if out is None or out >= LEAST * claimed:
            continue
        released = solver.calibrated(pair[0], guarantee).released
        bare = unsampled(released)
        found = Figures(
            claimed,
            tight(released, guarantee),
            None if bare == released else tight(bare, guarantee),
            reached(solver, pair, guarantee, trials, transcript=True),
            out,
        )
        figures = (found.output, found.transcript, found.certified, found.certified_unsampled)
        rows.append(f"| {name} | {guarantee} | {' | '.join(map(shown, figures))} | {found.reason()} |")
    table = "\n".join(rows)
    text = f"""
# Weak audits

Solvers whose certified noise an audit of the worst pair ({trials} runs, confidence 95%) sees less than a third of
the claim through; by `python -m benchmarks.weak_audits`. Beside: the same audit of every noisy answer, with its exact
likelihood ratio; the account's certified lower bound on the epsilon of all answers; and that of the same noise if no
step were sampled ("–" where there is none). The reason is the step from the claim to certified, transcript and output
that loses the largest factor; between certified and transcript it is amplification where the noise without sampling
would be worth over {LARGE:g} times the epsilon, else a weak attack.

| solver | claimed | output | transcript | certified | unsampled | why |
|---|---|---|---|---|---|---|
{table}
"""
    write_section("weak-audits.md", "weak audits", text)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
