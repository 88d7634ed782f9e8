"""From a program to its worst case: few constraints first, more as they are violated; then the proof."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import numpy as np

from dpcheck.bounds.performance.certificate import Certificate, Checked, NotCertified, certificate_of
from dpcheck.bounds.performance.interior_point import Iterate, iterates
from dpcheck.bounds.performance.program import Program

Array = np.ndarray
ROUNDS, FINE_ROUNDS = 25, 4  # of adding violated constraints
ROUGH = 1e-7  # relative accuracy while constraints are still being added
GOOD, NEAR = 1e-8, 1e-5  # relative gaps: the basis is not scaled again; an iterate may become the witness
ADDED = 120  # at most, in one round
KEPT = 12  # last iterates that may become the proof and the witness
SPOILT = 30  # times the least gap: iterates after it are dropped, rounding has taken over
TIGHT, ATTAINED = 1e-10, 1e-7  # by how much the witness may leave a constraint, relative to the largest inner product


@dataclass(frozen=True, eq=False)
class SolvedProgram:
    """A program's worst case in its own units: proved from above, and met by a Gram matrix from below."""

    upper: float
    lower: float
    violation: float  # of the worst constraint at the Gram matrix; <= 0 is none
    margin: float  # of the proof, see Checked
    certificate: Certificate
    program: Program
    gram: Array
    values: Array
    seconds: float


def solve(program: Program, about: str) -> SolvedProgram:
    """The worst case and its certificate. Raises NotCertified if no iterate of the solver is a proof."""
    begun = time.perf_counter()
    chosen = [i for i, first in enumerate(program.first) if first]
    found, members = _run(program, chosen, fine=False)
    for _ in range(ROUNDS):
        missing = _violated(program, found[-1], chosen, 10 * ROUGH) if found else []
        if not missing:
            break
        chosen += missing
        found, members = _run(program, chosen, fine=False)
    for last in (False,) * FINE_ROUNDS + (True,):
        if not found:
            break
        program, found, members = _finest(program, found[-1], chosen)
        if last or not found or _witness(program, found)[2] <= ATTAINED * _size(program, program.gram(found[-1].G)):
            break
        chosen += _violated(program, found[-1], chosen, TIGHT)
    certificate, checked = _proof(program, found, members, about)
    gram, values, violation = _witness(program, found)
    lower = program.reached(gram, values)
    if violation > ATTAINED * _size(program, gram):
        lower = 0.0  # constraints are missing: what was met is not an instance
    taken = time.perf_counter() - begun
    return SolvedProgram(checked.bound, lower, violation, checked.margin, certificate, program, gram, values, taken)


def _finest(program: Program, rough: Iterate, chosen: list[int]) -> tuple[Program, deque[Iterate], list[list[int]]]:
    """The best of three runs: lengths may differ by orders of magnitude, and over a basis of their size the solver
    mostly answers better."""
    best: tuple[Program, deque[Iterate]] | None = None
    at, here = rough, program
    for again in (True, True, False):
        before, here = here, here.rescaled(here.gram(at.G), here.free(at.y)) if again else program
        if best and (here.same_units(before) if again else least_gap(best[1]) < NEAR):
            continue
        found, members = _run(here, chosen, fine=True)
        if found and (best is None or least_gap(found) < least_gap(best[1])):
            best, at = (here, found), found[-1]
        if best and least_gap(best[1]) < GOOD:
            break
    return (*(best or (program, deque())), members)


def least_gap(found: deque[Iterate]) -> float:
    return min(at.gap for at in found)


def _proof(
    program: Program, found: deque[Iterate], members: list[list[int]], about: str
) -> tuple[Certificate, Checked]:
    """The last iterate whose multipliers prove themselves; the very last may lie too close to the boundary."""
    why: NotCertified | None = None
    for at in reversed(found):
        certificate = certificate_of(program, *_spread(members, at.m), about)
        try:
            return certificate, certificate.check()
        except NotCertified as error:
            why = why or error
    gap = found[-1].gap if found else float("inf")
    remedy = f"Shorten the horizon ({why})." if why else "Shorten the horizon."
    raise NotCertified(f"the solver's relative gap on {about}", gap, "a dual that proves itself", remedy)


def _witness(program: Program, found: deque[Iterate]) -> tuple[Array, Array, float]:
    """The last Gram matrix that keeps the constraints, or else, of those near the end, the one that keeps them best."""
    best: tuple[Array, Array, float] | None = None
    for at in reversed(found):
        if best is not None and at.gap > NEAR:
            break
        gram, values = program.gram(at.G), program.free(at.y)
        violation = float(np.max(program.excess(gram, values)))
        if best is None or violation < best[2]:
            best = gram, values, violation
        if violation <= TIGHT * _size(program, gram):
            break
    assert best is not None
    return best


def _size(program: Program, gram: Array) -> float:
    """The largest squared length in a Gram matrix, over the basis as it was built, and at least 1."""
    return max(1.0, float(np.max(np.diag(gram) * np.square(program.lengths or 1.0))))


def _run(program: Program, chosen: list[int], fine: bool) -> tuple[deque[Iterate], list[list[int]]]:
    cone, members = program.cone(chosen)
    last: deque[Iterate] = deque(maxlen=KEPT)
    for at in iterates(cone):
        last.append(at)
        if not fine and at.gap < ROUGH:
            break
    while last and last[-1].gap > SPOILT * least_gap(last):
        last.pop()
    return last, members


def _spread(members: list[list[int]], m: Array) -> tuple[list[int], Array]:
    """Constraints and their multipliers, from groups that share one."""
    pairs = [(i, x) for group, x in zip(members, m, strict=True) for i in group]
    return [i for i, _ in pairs], np.array([x for _, x in pairs])


def _violated(program: Program, at: Iterate, chosen: list[int], limit: float) -> list[int]:
    """The worst violated constraints that are not chosen yet, whole groups of them."""
    gram = program.gram(at.G)
    excess = program.excess(gram, program.free(at.y))
    excess[chosen] = -np.inf
    limit *= _size(program, gram)
    worst = [int(i) for i in np.argsort(-excess)[:ADDED] if excess[i] > limit]
    groups = {program.groups[i] for i in worst}
    taken = set(chosen)
    return [i for i, group in enumerate(program.groups) if group in groups and i not in taken]
