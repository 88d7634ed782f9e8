"""Solver: an algorithm that runs many independent trials in one pass, with noise from a claim's own formula."""

from __future__ import annotations

import math
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dpcheck.bounds.language.claim import Claim, FunctionClass, Setting
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, MixedRelations
from dpcheck.bounds.language.given import one_of
from dpcheck.bounds.language.guarantees import (
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    Relation,
    RenyiDP,
)
from dpcheck.bounds.privacy.exact import SLACK, gaussian_sigma
from dpcheck.bounds.privacy.laws import RESPONSES, InOrder, Laplace, Poisson, Scheme, WithoutReplacement
from dpcheck.bounds.privacy.release import Released, Seen, account_name
from dpcheck.kernels import transcripts
from dpcheck.kernels.blocks import Seed
from dpcheck.kernels.method import Method
from dpcheck.kernels.running import Run, run
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.problem import Problem
from dpcheck.progress import in_percent
from dpcheck.settings import flag, must_be_allowed

Calibration = Literal["certified", "stated"]
GRID_BITS = 30
SEEDED = "not private to whoever knows the seed"
INEXACT = "delta = 0 in exact arithmetic: doubles miss values in the far tail of this noise"
TRACED = "no guarantee: a trace shows what the noise is to hide"


class SeededNoiseWarning(UserWarning):
    """The noise of a release comes from a given seed: who knows or guesses it takes the noise off."""


@dataclass(frozen=True)
class Solution:
    """What `solve` returns: one row of `w` per trial, and what the privacy of it rests on.

    Each row has the guarantee by itself. `rests_on` lists claims, the accountant, and each hypothesis that nothing
    here decides ("assumed: ..."); `caveats` says what takes the guarantee away: a seed, a trace (then it is None).
    """

    w: np.ndarray
    guarantee: Guarantee | None
    noise_std: float
    rests_on: tuple[str, ...]
    steps: int
    trace: Any = field(default=None, repr=False)
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Calibrated:
    """What a run will let out, with its noise; the plan it belongs to; and what that rests on."""

    plan: Any
    released: Released
    rests_on: tuple[str, ...]

    @property
    def noise_std(self) -> float:
        """The deviation of Gaussian and Laplace noise on the last answers; the scale of other laws."""
        law = self.released.parts[-1].law
        return float(law.scale) * (math.sqrt(2) if isinstance(law, Laplace) else 1.0)


@dataclass(frozen=True)
class Mechanism:
    """A solver under one guarantee as an auditor wants it: (data, rng, trials) -> (trials, d)."""

    solver: Solver
    guarantee: Guarantee
    calibration: Calibration = "certified"

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        return self.solver.performed(data, self.calibrated(data), rng, trials).w

    def calibrated(self, data: Any) -> Calibrated:
        """The plan and the noise for these data."""
        return self.solver.calibrated(data, self.guarantee, self.calibration)


@dataclass(frozen=True)
class WhiteBox(Mechanism):
    """The solver seen from inside: (data, rng, trials) -> (trials, steps, width), every noisy answer.

    Those up to the iterate that is let out, or all where the release says that everything is seen; after the public
    coins where a protocol has some: (trials, coins + steps width).

    Has the exact `log_density`, so that an audit attacks with the likelihood ratio of the whole transcript. Answers
    are as computed, not on the grid of the released iterate: the bits of floats are not what is attacked here.
    """

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        done = self.calibrated(data)
        method = self.solver.method(data, done.plan, done.released)
        whole = all(part.seen is Seen.EVERYTHING for part in done.released.parts)
        trace = run(method, done.released, data, seed=rng, trials=trials, trace=True, to_the_end=whole).trace
        assert trace is not None
        answers = np.ascontiguousarray(trace.answers.transpose(1, 0, 2))
        return answers if trace.coins is None else np.hstack([trace.coins, answers.reshape(trials, -1)])

    def log_density(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        """Of transcripts on these data, up to a constant, shape (trials,)."""
        done = self.calibrated(data)
        method = self.solver.method(data, done.plan, done.released)
        return transcripts.log_density(method, done.released, data, np.asarray(outputs))


@dataclass(frozen=True)
class Example:
    """Where `check_solver` tries a solver: small settings, and whatever it could not guess.

    Without `guarantee` it takes one that the solver accepts, without `data` the first of the worst pair.
    `neighbour(data, rng)` replaces a record at random; Problems need none. `reaches` is the share of its sensitivity
    that the worst pair attains, `bug` a factor on its noise that an audit of that pair must flag: below a half where
    the account has slack there.
    """

    solver: Solver
    guarantee: Guarantee | None = None
    data: Any = None
    neighbour: Callable[[Any, np.random.Generator], Any] | None = None
    reaches: float = 0.95
    bug: float = 0.5


@dataclass(frozen=True)
class Solver(ABC):
    """Base of all algorithms: frozen dataclasses of public settings (dpcheck/settings.py says what each allows).

    A solver is a Method (what it does), a Release (what it lets out) and its calibration. Data may be anything that
    its method understands; `relations` are the neighbouring relations that its release is for.
    """

    name: ClassVar[str] = ""
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE_ONE,)
    # Whether delta may reach 1/n, or the chance that a record is drawn at all, in a solver that draws batches: there
    # letting out a whole record keeps the letter of the guarantee.
    _: KW_ONLY
    large_delta: bool = flag()

    minimises: ClassVar[bool] = True  # the problem's risk; mechanisms release something else of its records
    for_estimators: ClassVar[bool] = True  # of those that minimise: takes the data, losses and sets of an estimator
    any_size: ClassVar[bool] = False  # records may be numbers of any finite size, none is refused for it
    may_be_missing: ClassVar[bool] = False  # a NaN is an answer that was not given
    multiclass: ClassVar[bool] = False  # takes a SoftmaxProblem: of the losses it needs gradients and constants only

    def __post_init__(self) -> None:
        must_be_allowed(self)

    # What an algorithm says of itself ---------------------------------------------------------------
    def plan(self, data: Any, guarantee: Guarantee) -> Any:
        """Lengths and step sizes. Public: they depend on sizes and bounds, never on a record."""
        return None

    @abstractmethod
    def release(self, data: Any, plan: Any) -> Released:
        """What a run lets out, from the theory's own Release; the scale of the noise may be open."""

    @abstractmethod
    def method(self, data: Any, plan: Any, released: Released) -> Method:
        """The steps, with this noise."""

    @abstractmethod
    def stated(self, data: Any, guarantee: Guarantee, plan: Any) -> tuple[Released, Sequence[Claim]]:
        """The release with the noise that was published, and the claims that state it."""

    @abstractmethod
    def certifying(self, data: Any, plan: Any) -> Sequence[Claim]:
        """The claims that certified calibration rests on: their hypotheses are checked, or listed."""

    @abstractmethod
    def worst_pair(self) -> tuple[Any, Any]:
        """The neighbouring data on which this algorithm leaks the most."""

    @classmethod
    def example(cls) -> Example:
        """Small settings on which `check_solver` can run it thousands of times."""
        return Example(cls())

    def must_suit(self, data: Any, guarantee: Guarantee, calibration: Calibration) -> None:  # noqa: B027
        """Refuse data and settings that the algorithm, or its certified calibration, is not made for."""

    # Running it -------------------------------------------------------------------------------------
    def solve(
        self,
        problem: Any,
        guarantee: Guarantee,
        rng: Seed = None,
        *,
        trials: int = 1,
        calibration: Calibration = "certified",
        trace: bool = False,
    ) -> Solution:
        """`trials` independent private solutions.

        "certified" takes its noise from a tight account of the theory's release and refuses when a hypothesis
        fails; "stated" uses the formula as published, to be attacked. Without `rng` the noise has entropy from the
        operating system. With it the solution is for a test or, with many trials, a study: `caveats` says so, and one
        solution warns. So does `trace`, which shows what the noise is to hide.
        """
        with in_percent(self.name):
            found = self.solution(problem, guarantee, rng, trials=trials, calibration=calibration, trace=trace)
        if rng is not None and trials == 1:
            warn_of_seed("rng")
        return replace(found, caveats=(SEEDED, *found.caveats)) if rng is not None else found

    def solution(
        self,
        problem: Any,
        guarantee: Guarantee,
        rng: Seed,
        *,
        trials: int = 1,
        calibration: Calibration = "certified",
        trace: bool = False,
    ) -> Solution:
        """What `solve` returns, for callers that answer for the seed themselves."""
        if isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 1:
            raise InvalidInput("trials", trials, "a whole number >= 1", "Use trials=1 for one solution.")
        done = self.calibrated(problem, guarantee, calibration)
        found = self.performed(problem, done, rng, int(trials), trace=trace)
        method = self.method(problem, done.plan, done.released)
        inexact = is_pure(guarantee) and not draws_exactly(method, done.released)
        caveats = (*((INEXACT,) if inexact else ()), *((TRACED,) if trace else ()))
        promised = None if trace else guarantee
        return Solution(found.w, promised, done.noise_std, done.rests_on, self.taken(done), found.trace, caveats)

    def calibrated(self, data: Any, guarantee: Guarantee, calibration: Calibration = "certified") -> Calibrated:
        """Plan, release and noise for these data, refused where a hypothesis fails."""
        self._must_be_askable(data, guarantee, calibration)
        self.must_suit(data, guarantee, calibration)
        plan = self.plan(data, guarantee)
        if calibration == "stated":
            released, claims = self.stated(data, guarantee, plan)
            assumed = [word for claim in claims for word in undecided(claim, data)]
            return Calibrated(plan, released, (*(claim.id for claim in claims), *dict.fromkeys(assumed)))
        claims = self.certifying(data, plan)
        assumed = [word for claim in claims for word in undecided(claim, data)]
        release = self.release(data, plan)
        if not self.large_delta:
            must_hide_records(release, guarantee)
        released = release.calibrated(guarantee)
        method = self.method(data, plan, released)
        if method.peek is not None:
            limit = "a method that learns of the records only through noisy answers"
            raise InvalidInput(f"settings of {self.name}", self, limit, "Change them, or attack it as stated.")
        if is_pure(guarantee) and not draws_exactly(method, released):
            limit = "one with delta > 0, as its noise is drawn in doubles"
            remedy = "Give its method a `lattice`, on which noise is drawn exactly."
            raise InvalidInput("guarantee", str(guarantee), limit, remedy)
        rests_on = (*(claim.id for claim in claims), account_name(release, guarantee), *dict.fromkeys(assumed))
        return Calibrated(plan, released, rests_on)

    def performed(self, data: Any, done: Calibrated, rng: Seed, trials: int, *, trace: bool = False) -> Run:
        """The runs themselves, with noise that promises what `done` rests on, and nothing if it was tampered with."""
        method = self.method(data, done.plan, done.released)
        found = run(method, done.released, data, seed=rng, trials=trials, trace=trace)
        return replace(found, w=on_grid(found.w, method.grain(done.noise_std), data))

    def taken(self, done: Calibrated) -> int:
        """The number of steps that a run takes at most."""
        return round(float(done.released.steps))

    def gradients(self, problem: Any, guarantee: Guarantee) -> int:
        """Record gradients evaluated at most: those of the batches asked for, unless an algorithm says otherwise."""
        released = self.release(problem, self.plan(problem, guarantee))
        return round(sum(float(part.steps) * records_of(part.sampling, problem.n) for part in released.parts))

    def mechanism(
        self, guarantee: Guarantee, calibration: Calibration = "certified", *, transcript: bool = False
    ) -> Mechanism:
        """This solver as a mechanism to audit: what it releases or, as `transcript`, every noisy answer on the way."""
        return (WhiteBox if transcript else Mechanism)(self, guarantee, calibration)

    def _must_be_askable(self, data: Any, guarantee: Guarantee, calibration: Calibration) -> None:
        one_of("calibration", calibration, get_args(Calibration), "Leave it out for certified.")
        if getattr(data, "multiclass", False) and not self.multiclass:
            limit = "a loss of one margin (Logistic, Huber, ...)"
            raise InvalidInput(
                f"loss for {self.name}", type(data.loss).__name__, limit, "Use dp_gd, or fit one class at a time."
            )
        if not isinstance(guarantee, Guarantee):
            raise InvalidInput("guarantee", guarantee, "a Guarantee", "Use PureDP(1.0) or ApproxDP(1.0, 1e-5).")
        if guarantee.parameters.get("eps") == 0:
            raise InvalidInput("guarantee", str(guarantee), "one with eps > 0", "Give it a positive eps.")
        if guarantee.relation not in self.relations:
            limit = f"{' or '.join(map(str, self.relations))}, which this algorithm is calibrated for"
            remedy = f"Use a {self.relations[0]} guarantee."
            raise MixedRelations("neighbouring relation", str(guarantee.relation), limit, remedy)


def warn_of_seed(name: str) -> None:
    """Where the user called, however deep that is below."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dpcheck."):
        level, frame = level + 1, frame.f_back
    text = f"{name} is given: what is released is {SEEDED}, and a small one is found by trying. Leave it out."
    warnings.warn(text, SeededNoiseWarning, stacklevel=level)


def must_hide_records(released: Released, guarantee: Guarantee) -> None:
    """Refuse a delta that pays for letting out a record that was drawn, or one record out of n."""
    chances = [chance_of(part.sampling) for part in released.parts]
    delta = float(guarantee.parameters.get("delta", 0.0))
    if delta == 0 or min(chances) == 1:
        return
    remedy = "Lower delta, take more steps or larger batches, or insist with large_delta=True."
    n = max(float(getattr(part.sampling, "of", 1.0)) for part in released.parts)
    if delta > 1 / n:
        raise InvalidInput("delta", delta, f"at most 1/n = {1 / n:.3g}", remedy)
    everyone = max(chances) == 1 or any(float(part.always) != 0 for part in released.parts)
    steps = [float(part.steps) for part in released.parts]
    ever = 1.0 if everyone else -math.expm1(sum(k * math.log1p(-q) for k, q in zip(steps, chances, strict=True)))
    if delta >= ever * (1 - SLACK):
        limit = f"below {ever:.3g}, the chance that a record is ever drawn"
        raise InvalidInput("delta", delta, limit, remedy)


def chance_of(scheme: Scheme | None) -> float:
    """That a step which may ask for a given record does."""
    if isinstance(scheme, Poisson):
        return float(scheme.rate)
    if scheme is None or isinstance(scheme, InOrder):
        return 1.0
    batch, n = float(scheme.batch), float(scheme.of)
    return min(1.0, batch / n) if isinstance(scheme, WithoutReplacement) else 1 - (1 - 1 / n) ** batch


def records_of(scheme: Scheme | None, n: int) -> float:
    """How many of n records a step asks, on average."""
    if isinstance(scheme, Poisson):
        return float(scheme.rate) * n
    if isinstance(scheme, InOrder):
        return 1.0
    return float(n if scheme is None else scheme.batch)


# Hypotheses ------------------------------------------------------------------------------------------
def must_meet(claim: Claim, data: Any, **values: Any) -> None:
    """Refuse when the data or the numbers break a hypothesis of the claim, naming it."""
    facts = facts_of(data)
    for assumed in claim.assumes:
        if isinstance(assumed, FunctionClass) and facts.get(assumed.name) is False:
            who = f"the problem ({type(data.loss).__name__} loss)" if hasattr(data, "loss") else type(data).__name__
            remedy = "Choose a loss, a regulariser or a constraint set that gives it."
            raise HypothesisViolated(claim.id, who, str(assumed), remedy)
    broken = claim.violated_by(values)
    if broken is not None:
        given = {str(s): values[str(s)] for s in broken.free_symbols}
        raise HypothesisViolated(claim.id, given, str(broken), 'Use calibration="certified" or change the values.')


def undecided(claim: Claim, data: Any) -> list[str]:
    """The hypotheses of a claim that neither the data nor numbers decide: what a user takes on trust."""
    must_meet(claim, data)
    known = facts_of(data)
    words = [h for h in claim.assumes if isinstance(h, Setting)]
    classes = [h for h in claim.assumes if isinstance(h, FunctionClass) and h.name not in known]
    return [f"assumed: {h}" for h in (*classes, *words)]


def facts_of(data: Any) -> Mapping[str, bool]:
    """What the data say about function classes; anything with a `facts` mapping may say more."""
    if not isinstance(data, Problem):
        return getattr(data, "facts", {})
    return {
        "convex": data.convex,
        "strongly convex": data.convex and data.strong_convexity > 0,
        "smooth": math.isfinite(data.smoothness),
        "Lipschitz": math.isfinite(data.data_lipschitz),
    }


def is_pure(guarantee: Guarantee) -> bool:
    """Whether it is one with delta = 0."""
    return isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta == 0)


def draws_exactly(method: Method, released: Released) -> bool:
    """Whether the law of its noise is that of the formula, bit for bit, which delta = 0 needs."""
    return method.lattice > 0 or all(isinstance(part.law, RESPONSES) for part in released.parts)


def on_grid(w: np.ndarray, noise: float, data: Any) -> np.ndarray:
    """Outputs rounded to a public grid, about a billionth of the noise, and back into the constraint set.

    The last bits of a float tell what was added to the noise (Mironov 2012); the rounded value does not.
    """
    if noise == 0:
        return w
    step = math.ldexp(1.0, math.frexp(noise)[1] - GRID_BITS)
    rounded = w / step
    np.rint(rounded, out=rounded)  # in place: a pass over large outputs takes as long as drawing them
    rounded *= step
    constraint = getattr(data, "constraint", None)
    return rounded if constraint is None or isinstance(constraint, WholeSpace) else constraint.project(rounded)


def approximate(guarantee: Guarantee) -> ApproxDP:
    """The guarantee, if it is one that Gaussian noise on sampled steps can give."""
    if not isinstance(guarantee, ApproxDP) or guarantee.delta == 0:
        raise InvalidInput("guarantee", str(guarantee), "ApproxDP with delta > 0", "Convert with .to_approx(delta).")
    return guarantee


def gaussian_parameters(guarantee: Guarantee) -> tuple[float, float]:
    """(eps, delta) of a guarantee, for choosing public parameters such as the number of steps."""
    if isinstance(guarantee, PureDP):
        return float(guarantee.eps), 0.0
    if isinstance(guarantee, ApproxDP):
        return float(guarantee.eps), float(guarantee.delta)
    return float(guarantee.epsilon(1e-6)), 1e-6


def gaussian_noise_for(guarantee: Guarantee, sensitivity: float) -> float:
    """The least Gaussian deviation that gives this guarantee to a release of this l2 sensitivity."""
    if isinstance(guarantee, GaussianDP):
        return sensitivity / float(guarantee.mu)
    if isinstance(guarantee, ZCDP):
        return sensitivity / math.sqrt(2 * guarantee.rho)
    if isinstance(guarantee, RenyiDP):
        return sensitivity * math.sqrt(guarantee.alpha / (2 * guarantee.eps))
    if isinstance(guarantee, ApproxDP) and guarantee.delta > 0 and guarantee.eps > 0:
        return float(gaussian_sigma(guarantee.eps, guarantee.delta, sensitivity))
    raise InvalidInput(
        "guarantee", str(guarantee), "reachable with Gaussian noise", "Use delta > 0, zCDP or Gaussian DP."
    )
