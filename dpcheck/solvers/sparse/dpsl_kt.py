"""DPSL-KT (lwang21, Algorithm 2): a student of noisy answers. Claims: bounds/library/sparse/dpsl_kt.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.bounds.library.sparse import dpsl_kt as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.thresholded_descent import ight
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD, repeated
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Huber
from dpcheck.problems.problem import Problem, numbers
from dpcheck.settings import count, flag, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet, on_grid


@dataclass(frozen=True, eq=False)
class TaughtProblem(Problem):
    """A regularised problem on private records, and features that are public, one row each."""

    public: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        super().__post_init__()
        public = numbers("public", self.public)
        if public.ndim != 2 or public.shape[1] != self.d or len(public) == 0 or not np.any(public):
            limit = f"rows of {self.d} numbers, as the records, and not all 0"
            raise InvalidInput("shape of public", public.shape, limit, "Draw features of the same kind.")
        object.__setattr__(self, "public", public)

    @property
    def reach(self) -> float:
        """‖X̃‖₂: how far answers move for a teacher that moves by 1."""
        return float(np.linalg.norm(self.public, 2))


@dataclass(frozen=True, eq=False)
class Taught(Method):
    """The teacher answers all public features at once; the student is hard thresholding from 0 on noisy answers."""

    public: Array
    teacher_kept: int
    teacher_step: float
    teacher_steps: int
    kept: int
    student_step: float
    student_steps: int
    noise: float
    steps = 1

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.public)

    def start(self, k: int) -> State:
        return (np.zeros((k, self.public.shape[1])),)

    def query(self, data: TaughtProblem, state: State, t: int, drawn: Drawn) -> Array:
        return repeated(self.answers(data), len(state[0]))

    def asked_of(self, data: TaughtProblem, k: int) -> Asked:
        answers = self.answers(data)
        return lambda state, t, drawn: repeated(answers, len(state[0]))

    def answers(self, data: TaughtProblem) -> Array:
        """X̃θ̂."""
        start = np.zeros((1, data.d))
        teacher = ight(data.gradient, start, self.teacher_kept, self.teacher_step, self.teacher_steps)
        return np.asarray(self.public @ teacher[0])

    def update(self, state: State, answer: Array, t: int) -> State:
        seen = on_grid(answer, self.noise, None)  # what the student makes of it then tells no bits of the teacher

        def gradient(w: Array) -> Array:
            return np.asarray((w @ self.public.T - seen) @ self.public / len(self.public))

        return (ight(gradient, state[0], self.kept, self.student_step, self.student_steps),)

    def grain(self, scale: float) -> float:
        return 0.0  # answers are on the grid already

    def block(self, data: Any) -> int:
        return max(1, HELD // self.width)


@dataclass(frozen=True)
class DPSLKT(Solver):
    """A student with `kept` entries learns from noisy answers of a teacher to public features.

    Certified, the teacher keeps all its entries: a record moves a sparse one by as much as it is long, whatever n is.
    `sparse_teacher` is Algorithm 2 as printed, to be attacked ("stated"), with `slope` for its γ. `covariance` is its
    β̃, by default that of the public features; the student's steps are 1/β̃, the teacher's 1/(β̄+λ).
    """

    kept: int = count(10)
    teacher_steps: int = count(100)
    student_steps: int = count(50)
    sparse_teacher: bool = flag()
    slope: float = positive(1.0)
    covariance: float | None = positive()
    name: ClassVar[str] = "dpsl_kt"
    minimises: ClassVar[bool] = False  # over sparse points

    def must_suit(self, data: Any, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data, TaughtProblem):
            raise InvalidInput("data", type(data).__name__, "a TaughtProblem", "Make one with public features.")
        if not isinstance(data.constraint, WholeSpace):
            raise InvalidInput("constraint", data.constraint, "the whole space", "Leave it out.")
        if data.l2 == 0:
            raise InvalidInput("l2", 0.0, "a number > 0", "The teacher's bound is 2G/(n l2): pass l2=0.1 for example.")
        if calibration == "certified" and self.sparse_teacher:
            limit = "False: there is no bound on how far a record moves a sparse teacher that falls with n"
            raise InvalidInput("sparse_teacher", True, limit, 'Leave it out, or attack it as calibration="stated".')

    def beta(self, data: TaughtProblem) -> float:
        """β̃: as given, or of the public features themselves."""
        return self.covariance or data.reach**2 / len(data.public)

    def release(self, data: TaughtProblem, plan: None) -> Release:
        # privacy: lwang21.theorem3.3.3.corrected
        return theory.released.at(G=data.data_lipschitz, public_norm=data.reach, n=data.n, ridge=data.l2)

    def method(self, data: TaughtProblem, plan: None, released: Released) -> Taught:
        return Taught(
            data.public,
            self.kept if self.sparse_teacher else data.d,
            1 / (data.smoothness + data.l2),
            self.teacher_steps,
            self.kept,
            1 / self.beta(data),
            self.student_steps,
            float(released.parts[0].law.scale),
        )

    def stated(self, data: TaughtProblem, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.theorem3
        values = {
            "answers": len(data.public), "beta_pub": self.beta(data), "kept": self.kept, "slope_inf": self.slope,
            "n": data.n, "ridge": data.l2, **aim.parameters,
        }  # fmt: skip
        must_meet(claim, data, **values)
        return Release(1.0, theory.released.law).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: TaughtProblem, plan: None) -> Sequence[Claim]:
        return [gradient_descent.lemma3_regularised, theory.theorem3_corrected]

    def gradients(self, problem: Any, guarantee: Guarantee) -> int:
        """The teacher's: all records at every step. The student's are of public features."""
        return int(problem.n * self.teacher_steps)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(kept=1, student_steps=5))

    def worst_pair(self) -> tuple[TaughtProblem, TaughtProblem]:
        """Huber losses with far minimisers, one of which changes sides: teachers are 2G/(n l2) apart."""
        far = 1e6
        first = TaughtProblem(
            np.ones((5, 1)), np.full(5, -far), Huber(1.0), l2=0.5, label_bound=far, public=np.ones((3, 1))
        )
        second = first.replace(0, [1.0], far)
        assert isinstance(second, TaughtProblem)
        return first, second


def flipping_pair(k: int, l2: float, answers: int, seed: int) -> tuple[TaughtProblem, TaughtProblem]:
    """2k + 1 records of labels 1: k + 1 rows e₁ and k rows e₂, and the same with one row more of e₂; s = 1.

    The one feature that a sparse teacher keeps changes. Public features are uniform on [-1, 1]², so that β̃ = 1/3.
    """
    rows = np.repeat(np.eye(2), [k + 1, k], axis=0)
    public = np.random.default_rng(seed).uniform(-1, 1, (answers, 2))
    first = TaughtProblem(rows, np.ones(2 * k + 1), Huber(1.0), l2=l2, public=public)
    second = first.replace(k, [0.0, 1.0], 1.0)
    assert isinstance(second, TaughtProblem)
    return first, second
