"""What solvers have in common whose users send each of their answers through randomised response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL_ATTRIBUTE, Guarantee, PureDP, Relation
from dpcheck.bounds.library.latent import private_dawid_skene as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.truth_inference import must_be_answers
from dpcheck.families.user_numbers import must_be_pure
from dpcheck.kernels.method import Array
from dpcheck.solver import Calibration, Example, Solver


@dataclass(frozen=True)
class PrivateAnswers(Solver):
    """Base: data are a matrix (users, tasks) of 0, 1 and NaN, one entry of which may change.

    For a missing answer a fair coin is reported, so that nobody learns who answered what.
    """

    published: ClassVar[Claim]
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL_ATTRIBUTE,)
    minimises: ClassVar[bool] = False
    may_be_missing: ClassVar[bool] = True

    def must_suit(self, data: Any, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        must_be_answers(data)

    def release(self, data: Array, plan: None) -> Release:
        return theory.released_bits  # privacy: `published` of each

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        noise = self.published.evaluate(eps=guarantee.parameters["eps"])
        return theory.released_bits.with_noise(float(noise)), [self.published]

    def worst_pair(self) -> tuple[Array, Array]:
        """The only user's only answer."""
        return np.array([[1.0]]), np.array([[0.0]])

    @classmethod
    def example(cls) -> Example:
        data = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
        return Example(cls(), PureDP(1.0, relation=LOCAL_ATTRIBUTE), data, neighbour=another_answer)


def another_answer(data: Array, rng: np.random.Generator) -> Array:
    """One entry drawn anew."""
    found = data.copy()
    found[tuple(rng.integers(found.shape))] = rng.integers(2)
    return found
