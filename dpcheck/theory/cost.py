"""What a method costs on a task: gradients and memory, counted from the solver that would run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim, Kind, Verdict, pretty
from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.language.symbols import gradients
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.bounds.registry import entries
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.outline import Outline
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver, records_of
from dpcheck.solvers.finding import solver_named
from dpcheck.theory.claim_choice import verdict_of
from dpcheck.theory.task import LearningTask

SMALL = (32, 64)  # records on which a method is set up to see what it holds


@dataclass(frozen=True)
class Cost:
    """Of the stem's solver with its own settings; None where it says nothing. `refused` is why it would not run."""

    gradients: int | None = None
    records: float | None = None  # of a step
    vectors: float | None = None  # of d numbers, held between steps
    order: str = ""
    refused: str = ""

    def __str__(self) -> str:
        parts = [f"{self.gradients:.3g} record gradients"] if self.gradients is not None else []
        parts += [f"{self.records:.3g} record{plural(self.records)} a step"] if self.records is not None else []
        parts += [f"{self.vectors:g} vector{plural(self.vectors)} of d held"] if self.vectors is not None else []
        parts += [self.order] if self.order else []
        costs = ["costs " + "; ".join(parts)] if parts else []
        return ". ".join([*costs, *([f"Its solver refuses: {self.refused}"] if self.refused else [])])


def plural(count: float) -> str:
    return "" if count == 1 else "s"


def cost_of(stem: str, task: LearningTask, steps: float | None, known: Mapping[str, Any]) -> Cost:
    """From the solver's own plan, which reads sizes and bounds and no record; and the published order, if it stands.

    `steps` are those that a bound is for; None leaves them to the solver.
    """
    order, kind = published_order(stem, known), solver_named(stem)
    if kind is None or not kind.minimises:  # other data than a problem's, and no gradients
        return Cost(order=order)
    whole, refused = task.problem, ""
    settable = steps is not None and "steps" in {f.name for f in fields(kind)}
    solver = kind(steps=int(steps)) if settable else kind()  # type: ignore[arg-type, call-arg]
    for problem in (whole, replace(whole, constraint=L2Ball(task.radius))):  # some need a set: one around the minimiser
        try:
            return replace(run_cost(solver, problem, task.guarantee), order=order)
        except DpcheckError as error:
            refused = refused or str(error)
    return Cost(order=order, refused=refused)


def run_cost(solver: Solver, problem: Outline, guarantee: Guarantee) -> Cost:
    """What a run would cost, refused as the run would be."""
    solver.must_suit(problem, guarantee, "certified")
    released = solver.release(problem, solver.plan(problem, guarantee))
    records = max(records_of(part.sampling, problem.n) for part in released.parts)
    return Cost(solver.gradients(problem, guarantee), records, vectors_held(solver, problem, guarantee))


def vectors_held(solver: Solver, outlined: Outline, guarantee: Guarantee) -> float | None:
    """The size of a method's state over d, where it does not depend on the number of records."""
    found = set()
    for n in SMALL:
        small = Problem(
            np.zeros((n, outlined.d)), np.ones(n), outlined.loss, outlined.l2, outlined.constraint, outlined.row_bound
        )
        plan = solver.plan(small, guarantee)
        method = solver.method(small, plan, with_unit_noise(solver.release(small, plan)))
        found.add(sum(part.size for part in method.start(1)) / outlined.d)
    return found.pop() if len(found) == 1 else None


def with_unit_noise(released: Released) -> Released:
    """The same with noise of scale 1: what a method holds does not depend on it."""
    parts = tuple(replace(part, law=replace(part.law, scale=1.0)) for part in released.parts)
    return parts[0] if len(parts) == 1 else Composed(parts)


def published_order(stem: str, known: Mapping[str, Any]) -> str:
    """The number of gradients as the stem's own claim states it, unless that is refuted."""

    def stands(claim: Claim) -> bool:
        bad = (Verdict.REFUTED, Verdict.VACUOUS)
        return claim.kind is Kind.COST and claim.subject == gradients and verdict_of(claim, known) not in bad

    found = [e.claim for e in entries().values() if e.algorithm == stem and stands(e.claim)]
    own = min(found, key=lambda c: len(c.id), default=None)
    return "" if own is None else f"O({pretty(own.formula)}) gradients by {own.id}"
