"""Solvers whose worst pair an audit hardly tells apart: how far it reaches, what is known exactly, and why.

Run: python -m benchmarks.weak_audits [trials]
"""

from __future__ import annotations

import sys
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


def reason(claimed: float, seen: float | None, exact: float | None, released: Released) -> str:
    """From the figures: what an attacker of the output lacks."""
    if seen is not None and seen >= LEAST * claimed:
        return "hidden iterates: whoever sees every noisy answer reaches the third"
    if exact is not None and exact < LEAST * claimed:
        return "slack in the analysis: the account's own lower bound is as small"
    slack = "" if exact is None or exact > 0.9 * claimed else "; and slack: the certified figures leave it open"
    if any(part.sampling is not None for part in released.parts):
        return f"amplification: a step that draws the record is one of many that do not{slack}"
    return f"weak attack on this pair{slack}" if exact is not None else "weak attack, or slack: no exact figure decides"


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
        seen, exact = reached(solver, pair, guarantee, trials, transcript=True), tight(released, guarantee)
        cells = (name, str(guarantee), shown(out), shown(seen), shown(exact), reason(claimed, seen, exact, released))
        rows.append("| " + " | ".join(cells) + " |")
    table = "\n".join(rows)
    text = f"""
# Weak audits

Solvers whose certified noise an audit of the worst pair ({trials} runs, confidence 95%) sees less than a third of
the claim through; by `python -m benchmarks.weak_audits`. Beside: the same audit of every noisy answer, with its exact
likelihood ratio, and the account's certified lower bound on the epsilon of all answers ("–" where there is none).

| solver | claimed | output | transcript | certified | why |
|---|---|---|---|---|---|
{table}
"""
    write_section("weak-audits.md", "weak audits", text)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
