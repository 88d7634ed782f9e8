"""Measured error over a grid of one symbol, against what is promised and what is possible.

The bounds are the algorithm's own claims, evaluated with the constants that the problem derives. A lower bound
speaks of the worst dataset: on another one an algorithm may do better.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import sympy
from scipy import stats

from dpcheck.audits.trials.spreading import spread
from dpcheck.bounds.language.claim import Claim, Rate
from dpcheck.bounds.language.errors import DpcheckError, HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.language.given import number, one_of
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP, RenyiDP
from dpcheck.bounds.language.symbols import TABLE, eps
from dpcheck.bounds.language.utility_case import ANY, APPROX, CONVEX, PURE, STRONG, UtilityCase, case_of
from dpcheck.kernels.blocks import child, seed_of
from dpcheck.problems.problem import Problem
from dpcheck.progress import Meter
from dpcheck.solver import Calibration, Solution, Solver, gaussian_parameters, must_meet
from dpcheck.solvers.finding import solver_named, solvers
from dpcheck.theory.claim_choice import TRUSTED, candidates, verdict_of
from dpcheck.theory.likeness import lower_bound_of

Role = Literal["stated", "certified", "lower"]
AXES = ("n", "d", "eps", "T")
NO_LOWER = "The library has no lower bound for this case."
WORST = "Lower bounds hold for the worst dataset; on this one an algorithm may do better."


@dataclass(frozen=True, eq=False)
class Line:
    """A bound along the grid: its part in the picture, its claim, and how a legend calls it."""

    role: Role
    claim: str
    values: np.ndarray
    label: str
    explicit: bool


@dataclass(frozen=True, eq=False)
class Measurement:
    """What `measure` found: means with confidence intervals, bounds, and what a reader should know."""

    solver: str
    setting: str
    symbol: sympy.Symbol
    grid: np.ndarray
    measure: sympy.Symbol
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lines: Sequence[Line]
    notes: Sequence[str]
    trials: int
    seed: int
    confidence: float

    def line(self, role: Role) -> Line | None:
        """The bound of that part, if one applies."""
        return next((line for line in self.lines if line.role == role), None)

    @property
    def exceeded(self) -> list[tuple[str, float]]:
        """(claim, grid value) where the measured error is above an explicit upper bound, interval and all."""
        uppers = [line for line in self.lines if line.role != "lower" and line.explicit]
        return [
            (u.claim, float(x))
            for u in uppers
            for x, low, b in zip(self.grid, self.low, u.values, strict=True)
            if low > b
        ]

    def plot(self, path: Any = None) -> Any:
        """The picture, on log-log axes. Needs matplotlib; writes to `path` if given."""
        from dpcheck.report import figures  # late: who plots nothing pays for no picture

        return figures.saved(figures.measurement_figure(self), path)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        points = {k: getattr(self, k).tolist() for k in ("grid", "mean", "low", "high")}
        lines = [{"role": u.role, "claim": u.claim, "label": u.label, "values": u.values.tolist()} for u in self.lines]
        rest = {"trials": self.trials, "seed": self.seed, "confidence": self.confidence, "notes": list(self.notes)}
        head = {
            "solver": self.solver,
            "setting": self.setting,
            "symbol": str(self.symbol),
            "measure": str(self.measure),
        }
        return {**head, **points, "lines": lines, "exceeded": self.exceeded, **rest}

    def __str__(self) -> str:
        from dpcheck.report.theory import as_text, measurement_page  # late: rich is for who prints

        return as_text(measurement_page(self))


def measure(
    solver: Solver | str,
    problem: Problem | Callable[[int], Problem],
    grid: Mapping[str, Sequence[float]],
    *,
    guarantee: Guarantee | None = None,
    trials: int = 200,
    seed: int = 0,
    calibration: Calibration = "certified",
    confidence: float = 0.95,
    measure: str | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> Measurement:
    """Run a solver over a grid of n, d, eps or T and set its error beside its bounds.

    `problem` is a Problem, or for a grid of n or d a function of that number. `grid` is one symbol with at least
    two values, e.g. {"n": [100, 200, 400]}. `guarantee` is (1, 1e-5)-DP unless given. `measure` is excess_risk or
    gradient_norm2; by default the former where the losses are convex. `executor` is what audits take (None: this
    process); the points of the grid run there, with the same bits as here. A bar with rate and time left is shown on a
    terminal and in a notebook, but not in CI; `progress=False` shows none.
    """
    runner = named_solver(solver)
    symbol, values = axis(grid)
    wanted = ApproxDP(1.0, 1e-5) if guarantee is None else guarantee
    confidence = number(
        "confidence", confidence, "a number in (0, 1)", "For example 0.95.", lambda found: 0 < found < 1
    )
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 2:
        raise InvalidInput("trials", trials, "a whole number >= 2", "An interval needs at least two runs.")
    points = [
        Point(setting(runner, problem, wanted, str(symbol), x), calibration, trials, child(seed_of(seed), i), measure)
        for i, x in enumerate(values)
    ]
    done: dict[int, SolverRun] = {}
    with Meter(f"measuring {runner.name}", "runs", trials * len(values), progress) as meter:
        meter.part = (0, trials)
        for place, run in spread(Point.run, points, executor):
            done[place] = run
            meter.part = (len(done) * trials, trials)  # of use where the next one runs here
            meter.update(len(done) * trials, note=f"{symbol} = {values[place]:g}")
    runs = [done[place] for place in range(len(points))]
    errors = np.array([run.errors for run in runs])
    half = stats.t.ppf((1 + confidence) / 2, trials - 1) * errors.std(axis=1, ddof=1) / math.sqrt(trials)
    mean = errors.mean(axis=1)
    lines, notes = bounds_along(runner, runs)
    low = np.maximum(mean - half, mean * 1e-3)  # an axis of logarithms has no place for zero
    found = Measurement(
        runner.name,
        title_of(runs, str(symbol), calibration),
        symbol,
        np.array(values, float),
        runs[0].measure,
        mean,
        low,
        mean + half,
        lines,
        notes,
        trials,
        seed,
        confidence,
    )
    above = [f"The measured error is above {claim} at {symbol} = {x:g}." for claim, x in found.exceeded]
    return replace(found, notes=[*notes, *above])


# Runs ----------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class MeasuredAt:
    """One point of the grid."""

    solver: Solver
    problem: Problem
    guarantee: Guarantee


@dataclass(frozen=True, eq=False)
class Point:
    """What is to be run there, wherever that is: all that the errors depend on."""

    at: MeasuredAt
    calibration: Calibration
    trials: int
    seed: np.random.SeedSequence
    measure: str | None

    def __str__(self) -> str:
        return f"{self.at.solver.name} at n = {self.at.problem.n}, d = {self.at.problem.d}, {self.at.guarantee}"

    def run(self) -> SolverRun:
        """Run it."""
        return run_at(self.at, self.calibration, self.trials, self.seed, self.measure)


@dataclass(frozen=True, eq=False)
class SolverRun:
    """The errors of all trials at one point, and the numbers that bounds are evaluated at."""

    at: MeasuredAt
    measure: sympy.Symbol
    errors: np.ndarray
    values: Mapping[str, float]
    least_norm: float


def named_solver(solver: Solver | str) -> Solver:
    """A solver as given, or the one of that stem with its defaults."""
    if isinstance(solver, Solver):
        return solver
    found = solver_named(str(solver))
    if found is None:
        raise UnknownName("solver", solver, f"one of {sorted(solvers())}", "Pass a stem or a Solver.")
    return found()


def axis(grid: Mapping[str, Sequence[float]]) -> tuple[sympy.Symbol, list[float]]:
    """The one symbol of the grid and its values, in rising order."""
    if not isinstance(grid, Mapping) or len(grid) != 1 or next(iter(grid)) not in AXES:
        raise InvalidInput("grid", grid, f"one of {', '.join(AXES)} with its values", 'For example {"n": [100, 200]}.')
    ((name, values),) = grid.items()
    symbol = next(s for s in TABLE if str(s) == name)
    for value in values:
        TABLE[symbol].must_contain(value)
    if len(set(values)) < 2 or min(values) <= 0:
        raise InvalidInput(f"grid of {name}", list(values), "two or more different numbers > 0", "Add a value.")
    return symbol, sorted(int(v) if TABLE[symbol].integer else float(v) for v in set(values))


def setting(solver: Solver, problem: Any, guarantee: Guarantee, name: str, x: float) -> MeasuredAt:
    """Solver, problem and guarantee at one value of the symbol."""
    if name in ("n", "d"):
        if isinstance(problem, Problem) or not callable(problem):
            raise InvalidInput("problem", type(problem).__name__, f"a function of {name}", "One problem has one size.")
        made = problem(int(x))
        if not isinstance(made, Problem) or getattr(made, name) != x:
            got = getattr(made, name, type(made).__name__)
            raise InvalidInput(f"{name} of the problem", got, f"the {x:g} asked for", "Check the function.")
        return MeasuredAt(solver, made, guarantee)
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", type(problem).__name__, f"a Problem for a grid of {name}", "Pass the problem.")
    if name == "eps":
        if not isinstance(guarantee, PureDP | ApproxDP | RenyiDP):
            raise InvalidInput("guarantee", str(guarantee), "one with an eps to vary", "Use PureDP or ApproxDP.")
        return MeasuredAt(solver, problem, replace(guarantee, eps=x))
    if "steps" not in {f.name for f in fields(solver)}:
        raise InvalidInput("grid", "T", f"a symbol {solver.name} lets be set", "Choose n, d or eps.")
    return MeasuredAt(replace(solver, steps=int(x)), problem, guarantee)  # type: ignore[call-arg]


def run_at(
    at: MeasuredAt, calibration: Calibration, trials: int, seed: np.random.SeedSequence, wanted: str | None
) -> SolverRun:
    """Solve, and take the error of every trial."""
    name = "excess_risk" if at.problem.convex else "gradient_norm2"
    if wanted is not None:
        name = one_of("measure", wanted, ("excess_risk", "gradient_norm2"), "Leave it out for the default.")
    found = at.solver.solve(at.problem, at.guarantee, seed, trials=trials, calibration=calibration)
    symbol = next(s for s in TABLE if str(s) == name)
    if name == "gradient_norm2":  # needs no minimiser, and there may be none
        errors = np.einsum("ij,ij->i", *(at.problem.gradient(found.w),) * 2)
        return SolverRun(at, symbol, errors, constants(at, found), 0.0)
    w_hat, least = at.problem.minimiser()
    norm = float(np.linalg.norm(w_hat))
    start = float(at.problem.value(np.zeros((1, at.problem.d)))[0])
    radius = getattr(at.solver, "radius", None) or norm
    nearby = {"D": radius, "w_hat": norm, "distance": norm, "gap0": start - least}
    if at.problem.smoothness > 0:
        nearby["D_F"] = math.sqrt(2 * max(start - least, 0.0) / at.problem.smoothness)
    return SolverRun(at, symbol, at.problem.value(found.w) - least, positive({**nearby, **constants(at, found)}), norm)


def constants(at: MeasuredAt, found: Solution) -> dict[str, float]:
    """The theorems' symbols for this problem: derived from loss and bounds, and the solver's own where it has any."""
    problem, guarantee = at.problem, at.guarantee
    epsilon, delta = gaussian_parameters(guarantee)
    here = {
        "n": problem.n,
        "d": problem.d,
        "eps": epsilon,
        "T": found.steps,
        "L": problem.data_lipschitz,
        "beta": problem.smoothness,
        "mu": problem.strong_convexity,
        "m": getattr(at.solver, "batch", 1) or 0,
        "G": problem.data_lipschitz,
        "L_smooth": problem.smoothness - problem.l2,
        "sigma_n": found.noise_std,
    }
    here |= {"delta": delta} if delta > 0 else {}
    noise2 = problem.d * found.noise_std**2
    here["sigma_g"] = math.sqrt(4 * problem.data_lipschitz**2 + noise2)  # zhang17.theorem5.deviation.corrected
    return positive({**here, **solvers_own(at, found)})


def solvers_own(at: MeasuredAt, found: Solution) -> dict[str, float]:
    """What the solver itself put in: its `values`, `plan`, `step_size` and `start_distance`, where it has them."""
    known: dict[str, Any] = {"problem": at.problem, "guarantee": at.guarantee, "noise": found.noise_std}
    known["data"] = at.problem
    known["plan"] = asked(at.solver, "plan", known)
    step = asked(at.solver, "step_size", known) or getattr(known["plan"], "step_size", None)
    batch = getattr(known["plan"], "batch", None)
    own = {"D_F": asked(at.solver, "start_distance", known), "eta": step, "m": batch}
    return {k: v for k, v in own.items() if v is not None} | (asked(at.solver, "values", known) or {})


def asked(solver: Solver, name: str, known: Mapping[str, Any]) -> Any:
    """A solver's answer to a question it may know: its method of that name, on what the method asks for."""
    answer = getattr(solver, name, None)
    if not callable(answer):
        return answer
    return answer(**{k: known[k] for k in inspect.signature(answer).parameters})


def positive(values: Mapping[str, float]) -> dict[str, float]:
    """Those that a formula can take: every symbol stands for a finite number above 0."""
    return {k: float(v) for k, v in values.items() if math.isfinite(v) and v > 0}


# Bounds --------------------------------------------------------------------------------------------
def bounds_along(solver: Solver, runs: Sequence[SolverRun]) -> tuple[list[Line], list[str]]:
    """The stated, the certified and the lower bound where they apply, and notes where they do not."""
    lines: list[Line] = []
    notes: list[str] = []
    case = case_at(runs[0])
    try:
        known = [
            c
            for c in candidates(solver.name, ("eps", "sigma_g", "sigma_n"), compose=False)
            if c.subject == case.measure
        ]
    except DpcheckError:
        known = []
    fitting = [c for c in known if same_losses(c, case)] or [c for c in known if weaker(c, case)]
    stated = first_line("stated", [c for c in fitting if c.corrects is None], runs, notes)
    certified = first_line("certified", [c for c in fitting if verdict_of(c) in TRUSTED], runs, notes)
    if stated is not None and certified is not None and stated.claim == certified.claim:
        stated = None
    lines += [line for line in (stated, certified) if line is not None]
    if not any(line.explicit for line in lines):
        kind = "bound with explicit constants" if lines else "bound of the library"
        notes.append(f"No {kind} applies to {solver.name} here.")
    floor = lower_bound_of(case)
    below = first_line("lower", [floor], runs, notes) if floor is not None else None
    lines += [below] if below is not None else []
    notes.append(NO_LOWER if below is None else WORST)
    if any(not line.explicit for line in lines):
        notes.append("Hidden constants are taken as 1: such a line shows a slope, not a height.")
    return lines, list(dict.fromkeys(notes))


def case_at(run: SolverRun) -> UtilityCase:
    """What a bound would have to be about."""
    problem, guarantee = run.at.problem, run.at.guarantee
    losses = STRONG if problem.convex and problem.strong_convexity > 0 else CONVEX if problem.convex else ANY
    pure = isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta == 0)
    return UtilityCase(run.measure, losses, PURE if pure else APPROX)


def same_losses(claim: Claim, case: UtilityCase) -> bool:
    """Whether a bound is of this case. One that names the noise itself holds under any privacy."""
    one = case_of(claim)
    return one.losses == case.losses and (one.privacy == case.privacy or eps not in claim.formula.free_symbols)


def weaker(claim: Claim, case: UtilityCase) -> bool:
    """Whether a bound of another case also speaks of this one: it assumes less of the losses."""
    order = (STRONG, CONVEX, ANY)
    losses = case_of(claim).losses
    return order.index(losses) > order.index(case.losses) and same_losses(claim, replace(case, losses=losses))


def first_line(role: Role, claims: Sequence[Claim], runs: Sequence[SolverRun], notes: list[str]) -> Line | None:
    """The first claim that applies at every point: explicit ones before orders, fewer open parameters before more."""
    for claim in sorted(claims, key=lambda c: (isinstance(c.states, Rate), bool(c.hidden), c.ignores_units)):
        try:
            values = np.array([evaluated(claim, run, strict=role != "lower") for run in runs])
        except HypothesisViolated as violated:
            notes.append(str(violated).split(". ")[0] + ".")
            continue
        except InvalidInput:
            continue  # a symbol of the statement that this problem has no number for
        explicit = not isinstance(claim.states, Rate) and not claim.hidden
        return Line(role, claim.id, values, label(role, claim, explicit), explicit)
    return None


def evaluated(claim: Claim, run: SolverRun, strict: bool) -> float:
    """The bound at a run's numbers; refuses a problem that breaks its hypotheses."""
    values = {str(s): run.values[str(s)] for s in claim.symbols if str(s) in run.values}
    if strict:
        must_meet(claim, run.at.problem, **values)
        needs_radius = "D" in {str(s) for s in claim.formula.free_symbols}
        if needs_radius and run.least_norm > run.values["D"] * (1 + 1e-9):
            given = {"‖ŵ‖": round(run.least_norm, 4), "D": run.values["D"]}
            raise HypothesisViolated(claim.id, given, "‖ŵ‖ ≤ D", "Give the solver a larger radius.")
    return float(claim.evaluate(**values))


def label(role: Role, claim: Claim, explicit: bool) -> str:
    """How a legend calls a bound."""
    words = {"stated": "stated bound", "certified": "certified bound", "lower": "lower bound, worst dataset"}[role]
    order = "" if explicit else ", hidden constant as 1"
    dropped = ", L, β, μ and D dropped" if claim.ignores_units else ""
    return f"{words}: {claim.id} ({verdict_of(claim)}{order}{dropped})"


def title_of(runs: Sequence[SolverRun], name: str, calibration: Calibration) -> str:
    """The problem and what is fixed."""
    problem, guarantee = runs[0].at.problem, runs[0].at.guarantee
    fixed = {"n": f"n = {problem.n}", "d": f"d = {problem.d}"}
    if isinstance(guarantee, PureDP | ApproxDP):
        epsilon, delta = gaussian_parameters(guarantee)
        fixed |= {"eps": f"ε = {epsilon:g}", "delta": f"δ = {delta:g}"}
    else:
        fixed["delta"] = str(guarantee)
    kept = [text for key, text in fixed.items() if key != name]
    regulariser = f" with l2 = {problem.l2:g}" if problem.l2 > 0 else ""
    return f"{type(problem.loss).__name__} loss{regulariser}, {', '.join(kept)}; {calibration} noise"
