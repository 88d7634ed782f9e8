"""Proofs of worst cases that anybody can check again, and the error if there is none.

For every instance: objective = sum of multiplier * (left sides) - <S, G>, where S = sum of multiplier * matrix - A0 and
the function values cancel. If the multipliers are >= 0 and S is positive semidefinite, then the objective is at most
the sum of multiplier * (right sides). The check is rigorous in double precision: the values cancel exactly, and S is
positive semidefinite by a Cholesky factorisation with room for all rounding (Rump 2006). It uses no solver.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import DpcheckError, shown
from dpcheck.bounds.performance.program import Inequality, Objective, Program, combined

Array = np.ndarray
UNIT = float(np.finfo(float).eps) / 2


class NotCertified(DpcheckError):
    """What was found is not a proof."""

    def __init__(self, what: str, value: Any, limit: str, remedy: str) -> None:
        self.what, self.value, self.limit, self.remedy = what, value, limit, remedy
        super().__init__(f"{what} is {shown(value)}; a proof needs {limit}. {remedy}")


@dataclass(frozen=True)
class Checked:
    """What a certificate proves: the objective is at most `bound`, in the program's units.

    `margin` is by how much the least eigenvalue of S exceeds the room that rounding needs.
    """

    bound: float
    margin: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """The dual of a worst case: the program, and one multiplier for each of its constraints.

    >>> one = Certificate(np.eye(1), 0, (Inequality("norm", (0,), bound=2.0),), (1.5,), Objective(vector=0), "||v||^2")
    >>> round(one.check().bound, 12)
    6.0
    """

    vectors: Array
    values: int
    constraints: tuple[Inequality, ...]
    multipliers: tuple[float, ...]
    objective: Objective
    about: str

    def check(self) -> Checked:
        """Prove it again from the data alone, or raise NotCertified."""
        m = np.array(self.multipliers, float)
        if not (len(m) == len(self.constraints) and np.all(np.isfinite(m)) and np.all(m >= 0)):
            least = float(np.min(m, initial=np.inf))
            raise NotCertified("the least multiplier", least, "numbers >= 0, one a constraint", "Solve it again.")
        off = self.imbalance()
        if off != 0:
            raise NotCertified("the sum of the function values", off, "exactly 0", "Solve it again.")
        margin = self.margin()
        if margin < 0:
            raise NotCertified("the margin of S", margin, "S >= 0 beyond rounding", "Solve it again, less tightly.")
        total = math.fsum(a * c.right for a, c in zip(self.multipliers, self.constraints, strict=True))
        return Checked(total * (1 + 8 * UNIT), margin)

    def imbalance(self) -> float:
        """The largest coefficient of a function value that is left over; sums are exact, so 0 is 0."""
        terms: list[list[float]] = [[] for _ in range(self.values)]
        for value in self.objective.values:
            terms[value].append(-1.0)
        for multiplier, constraint in zip(self.multipliers, self.constraints, strict=True):
            for value, coefficient in constraint.balance:
                terms[value].append(coefficient * multiplier)
        return max((abs(math.fsum(t)) for t in terms), default=0.0)

    def margin(self) -> float:
        """The least eigenvalue of S minus what rounding may have cost; S >= 0 is proved if this is not negative."""
        S, error = self._matrix()
        used = np.flatnonzero(error.any(axis=1))  # a vector in no constraint has a row of exact zeros
        S, error = S[np.ix_(used, used)], error[np.ix_(used, used)]
        n = len(S)
        room = float(np.max(error.sum(axis=1))) * (1 + 1e-6) + 4 * (n + 4) * UNIT * float(np.trace(np.abs(S)))
        try:
            np.linalg.cholesky(S - room * np.eye(n))
        except np.linalg.LinAlgError:
            return min(float(np.linalg.eigvalsh(S)[0]) - room, -1e-300)
        return max(float(np.linalg.eigvalsh(S)[0]) - room, 0.0)

    def _matrix(self) -> tuple[Array, Array]:
        """S, and an entrywise bound of its rounding error: every product is taken again with absolute values."""
        n = self.vectors.shape[1]
        V, size = self.vectors, np.abs(self.vectors)
        products = [(-c, u, v) for c, u, v in self.objective.products(V)]
        sizes = [(c, u, v) for c, u, v in self.objective.products(size)]
        for multiplier, constraint in zip(self.multipliers, self.constraints, strict=True):
            if multiplier > 0:
                products += [(multiplier * c, u, v) for c, u, v in constraint.products(V)]
                sizes += [(multiplier * abs(c), u, v) for c, u, v in constraint.products(size, minus=1.0)]
        terms = len(products) + 16  # roundings that any entry meets, at most
        return combined(products, n), 1.01 * terms * UNIT * combined(sizes, n)

    def to_json(self) -> str:
        """As text; `from_json` reads it, bit for bit."""
        return json.dumps(
            {
                "about": self.about,
                "vectors": self.vectors.tolist(),
                "values": self.values,
                "objective": asdict(self.objective),
                "constraints": [c.to_json() for c in self.constraints],
                "multipliers": list(self.multipliers),
            }
        )

    @staticmethod
    def from_json(text: str) -> Certificate:
        raw = json.loads(text)
        return Certificate(
            np.array(raw["vectors"], float),
            int(raw["values"]),
            tuple(Inequality.from_json(c) for c in raw["constraints"]),
            tuple(float(m) for m in raw["multipliers"]),
            Objective(raw["objective"]["vector"], tuple(raw["objective"]["values"])),
            raw["about"],
        )


def certificate_of(program: Program, chosen: list[int], multipliers: Array, about: str) -> Certificate:
    """The chosen constraints with multipliers rounded so that the function values cancel exactly."""
    constraints = tuple(program.constraints[i] for i in chosen)
    m = balanced(program, constraints, np.asarray(multipliers, float))
    return Certificate(program.vectors, program.values, constraints, m, program.objective, about)


def balanced(program: Program, constraints: tuple[Inequality, ...], m: Array) -> tuple[float, ...]:
    """Multipliers as whole multiples of a power of two, mended along a spanning tree of large ones.

    A constraint moves its multiplier from one value to another, like a flow: what enters must leave.
    """
    m = _nearly_balanced(program, constraints, m)
    unit = 2.0 ** (math.ceil(math.log2(max(float(np.max(m)), 1.0))) - 50)
    whole = [max(0, round(float(x) / unit)) for x in m]
    over = [0] * program.values
    for value in program.objective.values:
        over[value] -= round(1 / unit)
    links: dict[int, list[tuple[int, int, int]]] = {v: [] for v in range(-1, program.values)}
    for k, constraint in enumerate(constraints):
        ends = constraint.balance
        for value, coefficient in ends:
            over[value] += coefficient * whole[k]
        if ends:
            a, sign = ends[0]
            b = ends[1][0] if len(ends) > 1 else -1
            links[a].append((k, b, sign))
            links[b].append((k, a, -sign))
    for value, k, parent, sign in reversed(_tree(links, whole, program.values)):
        # `sign` is the coefficient of `value` in constraint k; the parent's is the opposite.
        shift = -over[value] * sign
        whole[k] += shift
        over[value] += sign * shift
        if parent >= 0:
            over[parent] -= sign * shift
    return tuple(w * unit for w in whole)


def _nearly_balanced(program: Program, constraints: tuple[Inequality, ...], m: Array) -> Array:
    """What the solver has left over, taken up by each multiplier in proportion to its size."""
    B = np.zeros((len(m), program.values))
    goal = np.zeros(program.values)
    for value in program.objective.values:
        goal[value] += 1
    for k, constraint in enumerate(constraints):
        for value, coefficient in constraint.balance:
            B[k, value] += coefficient
    if not B.size:
        return m
    shift = np.linalg.lstsq(B.T @ (m[:, None] * B), goal - m @ B, rcond=None)[0]
    moved = m * (1 + B @ shift)
    return np.asarray(moved if np.all(moved >= 0) else m)


def _tree(
    links: dict[int, list[tuple[int, int, int]]], weight: list[int], values: int
) -> list[tuple[int, int, int, int]]:
    """A spanning tree of large multipliers from the value 0: (value, constraint, parent, sign), roots first."""
    found: list[tuple[int, int, int, int]] = []
    inside = {-1}
    while len(inside) <= values:
        # links[a] holds (constraint, other end, coefficient of a)
        best = max(
            ((weight[k], k, a, b, sign) for a in inside for k, b, sign in links[a] if b not in inside), default=None
        )
        if best is None:
            return found
        _, k, a, b, sign = best
        found.append((b, k, a, -sign))
        inside.add(b)
    return found
