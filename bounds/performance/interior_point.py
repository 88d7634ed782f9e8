"""A small interior-point method for the semidefinite programs of performance estimation: dense, numpy only.

    maximise <A0, G> + b0.y   subject to   <Ai, G> + bi.y <= ci,  G >= 0 (in blocks),  y free

has the dual: minimise c.m subject to S = sum_i mi Ai - A0 >= 0, sum_i mi bi = b0, m >= 0. There are few constraints
and many entries of G, so that the Schur complement, one row a constraint, is what is factorised (Helmberg, Rendl,
Vanderbei, Wolkowicz 1996; predictor and corrector after Mehrotra). Nothing that comes out of here is trusted:
`certificate.py` proves what the multipliers prove.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported on first use

Array = np.ndarray
MOST_STEPS = 60
FINE = 1e-10  # relative gap and residuals at which no more is wanted
ROOM = 0.95  # of the way to the boundary
REFINED = 6  # solutions of one linear system, each from what the last has left


@dataclass(frozen=True)
class Cone:
    """The data of a program: A[b] holds the constraints' matrices on block b, A0[b] the objective's."""

    A: Sequence[Array]  # (constraints, size, size) for each block
    A0: Sequence[Array]  # (size, size) for each block
    B: Array  # (constraints, free)
    b0: Array  # (free,)
    c: Array  # (constraints,)

    def scaled(self) -> tuple[Cone, Array, float]:
        """Rows of length one and an objective of length one, with both factors."""
        rows = np.sqrt(sum(np.einsum("ijk,ijk->i", a, a) for a in self.A) + np.einsum("ij,ij->i", self.B, self.B))
        rows = np.maximum(rows, 1e-300)
        size = float(np.sqrt(sum(np.sum(a * a) for a in self.A0) + self.b0 @ self.b0))
        A = [a / rows[:, None, None] for a in self.A]
        return Cone(A, [a / size for a in self.A0], self.B / rows[:, None], self.b0 / size, self.c / rows), rows, size


@dataclass
class Iterate:
    """Primal (G, y, s = slacks) and dual (m, S); all strictly inside their cones."""

    G: list[Array]
    y: Array
    s: Array
    m: Array
    S: list[Array]
    gap: float = np.inf  # relative, with the residuals

    def copy(self) -> Iterate:
        return Iterate(list(self.G), self.y, self.s, self.m, list(self.S), self.gap)


def iterates(cone: Cone) -> Iterator[Iterate]:
    """Ever better iterates in the units of the program, until nothing improves."""
    inner, rows, size = cone.scaled()
    best, stuck = np.inf, 0
    for found in _follow(inner):
        stuck = 0 if found.gap < 0.9 * best else stuck + 1
        best = min(best, found.gap)
        yield Iterate(
            found.G, found.y, found.s * rows, found.m * size / rows, [S * size for S in found.S], gap=found.gap
        )
        if found.gap < FINE or stuck >= (3 if best < 1e-6 else 15):
            return


def _follow(cone: Cone) -> Iterator[Iterate]:
    """The central path of a scaled program."""
    at = _start(cone)
    sizes = [len(G) for G in at.G]
    degree = sum(sizes) + len(at.m)
    flat = [a.reshape(len(a), -1) for a in cone.A]
    for _ in range(MOST_STEPS):
        mu = (sum(np.sum(G * S) for G, S in zip(at.G, at.S, strict=True)) + at.s @ at.m) / degree
        try:
            step = _Newton(cone, flat, at)
            ahead = step.towards(0.0, None)
            primal, dual = _lengths(at, ahead, 1.0)
            after = _moved(at, ahead, primal, dual)
            affine = (sum(np.sum(G * S) for G, S in zip(after.G, after.S, strict=True)) + after.s @ after.m) / degree
            centring = min(1.0, max(affine / mu, 1e-8)) ** 2 if min(primal, dual) > 0.1 else 0.8
            move = step.towards(max(centring, 1e-6) * mu, ahead)
        except (scipy.linalg.LinAlgError, ValueError):
            return
        primal, dual = _lengths(at, move, ROOM)
        if max(primal, dual) < 1e-7 or not np.all(np.isfinite(move.m)):
            return
        at = _moved(at, move, primal, dual)
        at.gap = _gap(cone, flat, at)
        yield at.copy()


def _start(cone: Cone) -> Iterate:
    sizes = [a.shape[1] for a in cone.A]
    big = max(10.0, float(np.sqrt(sum(sizes))), sum(sizes) * float(np.max(np.abs(cone.c))) / 2)
    dual = max(10.0, float(np.sqrt(sum(sizes))))
    m = len(cone.c)
    eyes = [np.eye(k) for k in sizes]
    return Iterate(
        [big * e for e in eyes], np.zeros(cone.B.shape[1]), np.full(m, big), np.full(m, dual), [dual * e for e in eyes]
    )


def _gap(cone: Cone, flat: Sequence[Array], at: Iterate) -> float:
    """Between the two objectives, and what the residuals may be worth: relative, so that small answers count too."""
    primal = sum(np.sum(a * G) for a, G in zip(cone.A0, at.G, strict=True)) + cone.b0 @ at.y
    dual = cone.c @ at.m
    left = cone.c - sum(a @ G.ravel() for a, G in zip(flat, at.G, strict=True)) - cone.B @ at.y - at.s
    balance = cone.b0 - at.m @ cone.B
    parts = abs(dual - primal), np.abs(left) @ at.m, np.abs(balance) @ np.abs(at.y)
    return float(max(parts) / max(abs(dual), abs(primal), 1e-300))


class _Newton:
    """The linear system of one iterate, factorised once for predictor and corrector."""

    def __init__(self, cone: Cone, flat: Sequence[Array], at: Iterate) -> None:
        self.cone, self.flat, self.at = cone, flat, at
        self.inverse = [_inverse(S) for S in at.S]
        M = np.diag(at.s / at.m)
        for a, f, G, Si in zip(cone.A, flat, at.G, self.inverse, strict=True):
            M += f @ (G @ a @ Si).reshape(len(a), -1).T
        M = (M + M.T) / 2
        M[np.diag_indices_from(M)] *= 1 + 1e-14
        self.factor = scipy.linalg.cho_factor(M, lower=True, check_finite=False)
        self.M = M
        self.left = cone.c - self.of([*at.G]) - cone.B @ at.y - at.s
        self.dual = [np.tensordot(at.m, a, 1) - a0 - S for a, a0, S in zip(cone.A, cone.A0, at.S, strict=True)]
        self.balance = cone.b0 - at.m @ cone.B
        self.MB = scipy.linalg.cho_solve(self.factor, cone.B, check_finite=False) if cone.B.shape[1] else cone.B
        self.small = cone.B.T @ self.MB

    def of(self, blocks: Sequence[Array]) -> Array:
        """<Ai, blocks> for each constraint."""
        return np.asarray(sum(f @ X.ravel() for f, X in zip(self.flat, blocks, strict=True)))

    def solved(self, right: Array, balance: Array) -> tuple[Array, Array]:
        """(m, y) with M m - B y = right and B'm = balance, refined against the unfactorised system."""
        B = self.cone.B
        m, y = np.zeros(len(right)), np.zeros(len(balance))
        best = np.inf
        for _ in range(REFINED):
            first, second = right - self.M @ m + B @ y, balance - B.T @ m
            size = float(np.linalg.norm(first) + np.linalg.norm(second))
            if size >= 0.5 * best:
                break
            best = size
            more = scipy.linalg.cho_solve(self.factor, first, check_finite=False)
            if len(balance):
                shift = np.linalg.lstsq(self.small, second - B.T @ more, rcond=1e-16)[0]
                more, y = more + self.MB @ shift, y + shift
            m = m + more
        return m, y

    def towards(self, mu: float, ahead: Iterate | None) -> Iterate:
        """The direction to the point of the path at `mu`, with the predictor's curvature if given."""
        at = self.at
        fixed, slack = [], mu / at.m - at.s
        for b, (G, Si, R) in enumerate(zip(at.G, self.inverse, self.dual, strict=True)):
            bent = G @ R @ Si if ahead is None else (G @ R + ahead.G[b] @ ahead.S[b]) @ Si
            fixed.append(mu * Si - G - _symmetric(bent))
        if ahead is not None:
            slack = slack - ahead.s * ahead.m / at.m
        right = self.of(fixed) + slack - self.left
        m, y = self.solved(right, self.balance)
        S = [np.tensordot(m, a, 1) + R for a, R in zip(self.cone.A, self.dual, strict=True)]
        lead = [np.tensordot(m, a, 1) for a in self.cone.A]
        moves = [f - _symmetric(at.G[b] @ lead[b] @ self.inverse[b]) for b, f in enumerate(fixed)]
        return Iterate(moves, y, slack - at.s * m / at.m, m, S)


def _moved(at: Iterate, by: Iterate, primal: float, dual: float) -> Iterate:
    return Iterate(
        [G + primal * D for G, D in zip(at.G, by.G, strict=True)],
        at.y + primal * by.y,
        at.s + primal * by.s,
        at.m + dual * by.m,
        [S + dual * D for S, D in zip(at.S, by.S, strict=True)],
    )


def _lengths(at: Iterate, by: Iterate, room: float) -> tuple[float, float]:
    """How far each side may go."""
    primal = [_length(G, D) for G, D in zip(at.G, by.G, strict=True)] + [_ratio(at.s, by.s)]
    dual = [_length(S, D) for S, D in zip(at.S, by.S, strict=True)] + [_ratio(at.m, by.m)]
    return min(1.0, room * min(primal)), min(1.0, room * min(dual))


def _ratio(at: Array, by: Array) -> float:
    falling = by < 0
    return float(np.min(-at[falling] / by[falling], initial=np.inf))


def _length(X: Array, D: Array) -> float:
    """The largest a with X + a D >= 0."""
    L = np.linalg.cholesky(X)
    inner = scipy.linalg.solve_triangular(
        L, scipy.linalg.solve_triangular(L, D, lower=True, check_finite=False).T, lower=True, check_finite=False
    )
    least = float(np.linalg.eigvalsh(_symmetric(inner))[0])
    return np.inf if least >= 0 else -1 / least


def _inverse(S: Array) -> Array:
    factor = scipy.linalg.cho_factor(S, lower=True, check_finite=False)
    return _symmetric(scipy.linalg.cho_solve(factor, np.eye(len(S)), check_finite=False))


def _symmetric(X: Array) -> Array:
    return (X + X.T) / 2
