"""MPC Out P: local minimisers, with noise (lwang21, 6.3.1). Claims: bounds/library/distributed/mpc_out_p.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.distributed import mpc_out_p as theory
from dpcheck.bounds.library.distributed import noise_comparison
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.kernels.method import ROUNDED, Array, Method
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Linear
from dpcheck.problems.parties import Parties, must_be_parties
from dpcheck.settings import one_of
from dpcheck.solver import Calibration, Example, Solver

FINER = 2.0**-20  # a cell of the grid, of a coordinate's sensitivity


@dataclass(frozen=True)
class MPCOutP(Solver):
    """The average of the parties' minimisers with Laplace noise on each coordinate, on a public grid.

    `noise` is added "inside" the computation to the average, once; by "each" party to its own minimiser, which all see
    (Local Out P); or inside as if the average were the "smallest" party's minimiser (Pathak, PRR10). "stated" is
    what Theorem 6.3.1 and Table 6.1 print, which holds for one coordinate; "certified" takes sqrt(d) times as much.
    """

    noise: str = one_of("inside", "each", "smallest")
    name: ClassVar[str] = "mpc_out_p"
    for_estimators: ClassVar[bool] = False  # its data are Parties

    def must_suit(self, data: Parties, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_parties(data)
        if data.l2 == 0 or not data.loss.convex:
            given = f"{type(data.loss).__name__} with l2={data.l2}"
            raise InvalidInput("objective", given, "strongly convex", "Add l2 > 0.")
        if not isinstance(data.constraint, WholeSpace):
            raise InvalidInput("constraint", data.constraint, "the whole space", "Minimisers are not projected.")
        if not isinstance(guarantee, PureDP):
            raise InvalidInput("guarantee", str(guarantee), "PureDP", "Use mpc_grad_p for the others.")

    def release(self, data: Parties, plan: None) -> Release:
        released = self.unrounded(data)
        rounding = ROUNDED * data.d * lattice_of(data)
        return replace(released, sensitivity=released.sensitivity + rounding)

    def unrounded(self, data: Parties) -> Release:
        """In exact arithmetic; noise for the smallest party, or of each, is for a minimiser that nobody averages."""
        count = data.count if self.noise == "inside" else 1
        here = {"G": data.data_lipschitz, "n_least": data.smallest, "lam_parties": data.l2, "d": data.d}
        return theory.released_by_coordinates.at(parties=count, **here)  # privacy: lwang21.theorem6.3.1.coordinates

    def method(self, data: Parties, plan: None, released: Released) -> Method:
        lattice = lattice_of(data)
        if self.noise != "each":
            return OneAnswer(lambda records: exact_minimisers(records, lattice).mean(axis=0), data.d, lattice=lattice)
        return OneReport(
            lambda records: exact_minimisers(records, lattice), mean_of_users,
            users=data.count, each=data.d, outputs=data.d, lattice=lattice,
        )  # fmt: skip

    def stated(self, data: Parties, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        claim = theory.theorem1 if self.noise == "inside" else noise_comparison.pathak
        noise = claim.evaluate(
            G=data.data_lipschitz, parties=data.count, n_least=data.smallest, lam_parties=data.l2,
            eps=guarantee.parameters["eps"],
        )  # fmt: skip
        return self.release(data, plan).with_noise(float(noise)), [claim]

    def certifying(self, data: Parties, plan: None) -> Sequence[Claim]:
        return [theory.theorem1_coordinates]

    def gradients(self, problem: Parties, guarantee: Guarantee) -> int:
        """Exact minimisation is not counted in gradients; each record enters one."""
        return problem.n

    def worst_pair(self) -> tuple[Parties, Parties]:
        """Linear losses of two parties: a record of the smaller one turns round, along a direction of equal entries."""
        row = np.full(3, 1 / math.sqrt(3) * (1 - 1e-12))
        first = Parties(np.tile(row, (5, 1)), np.ones(5), Linear(), l2=0.5, sizes=(2, 3))
        return first, first.replace(0, row, -1.0)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), PureDP(1.0))


def lattice_of(data: Parties) -> float:
    """A power of two below 2^-20 of how far a coordinate of the average moves; coarser where minimisers are far."""
    finest = FINER * 2 * data.data_lipschitz / (data.count * data.smallest * data.l2)
    largest = data.data_lipschitz / data.l2  # the length of a minimiser
    return math.ldexp(1.0, math.frexp(max(finest, 2.0**-44 * largest))[1] - 1)


def exact_minimisers(data: Parties, lattice: float) -> Array:
    """Each within a quarter of the lattice: a gradient of g leaves a minimiser within g/l2."""
    found = data.minimisers()
    left = max(float(np.linalg.norm(p.gradient(w))) for p, w in zip(data.parties, found, strict=True))
    if left > data.l2 * lattice / 4:
        limit = f"at most {data.l2 * lattice / 4:.3g}, so that minimisers are exact on the grid of the release"
        raise InvalidInput("gradient at a party's minimiser", f"{left:.3g}", limit, "Raise l2 or rescale the data.")
    return found
