"""What the private estimators share: their parameters, public bounds, clipping, the fit and what it guarantees."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.given import number
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.estimators import rules
from dpcheck.estimators.partitions import PartitionReader, Partitions, is_dask, label_columns, partitioned, places
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.losses import Array, Loss, must_be_positive
from dpcheck.problems.parted_rows import PartedLabels, PartedRows
from dpcheck.problems.problem import ROUNDING, Problem
from dpcheck.problems.rows import BLOCK, BoundedRows, GivenRows, as_given, largest_entries, parts, row_norms
from dpcheck.progress import in_percent
from dpcheck.solver import SEEDED, Solution, Solver, warn_of_seed
from dpcheck.solvers.finding import solver_named, solvers

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn 1.5

    def validate_data(estimator: Any, *args: Any, **settings: Any) -> Any:
        """As from 1.6 on."""
        if "ensure_all_finite" in settings:
            settings["force_all_finite"] = settings.pop("ensure_all_finite")
        return estimator._validate_data(*args, **settings)


Table: TypeAlias = Array | GivenRows
SMALLEST, LARGEST = 1e-100, 1e100  # bounds whose squares are still numbers
LONG = 1e7  # steps that take minutes


class PrivacyLeakWarning(UserWarning):
    """A default was read off the data: the guarantee does not cover what that reveals."""


@dataclass(frozen=True)
class Read:
    """What a fit takes from its arguments: public bounds, targets one column a part, and classes if there are.

    `bad` are the records whose label is none: with rows="clip" a row of zeros with a fixed label stands for them.
    `norms` are those of the rows as given, where they have been computed.
    """

    data_norm: float
    label_bound: float
    targets: Array
    bad: NDArray[np.bool_]
    classes: Any = None
    norms: Array | None = None

    @property
    def columns(self) -> Sequence[Any]:
        """The labels of each model."""
        return list(self.targets.T)

    @property
    def places(self) -> Any:
        """The class of each record."""
        return self.targets.argmax(axis=1)

    def without(self, bad: NDArray[np.bool_]) -> Read:
        """The same with the fixed label, the first class or 0, for these records too."""
        bad, targets = bad | self.bad, self.targets
        if np.any(bad):
            targets = targets.copy()
            targets[bad] = 0.0 if self.classes is None else -1.0
            if targets.shape[1] > 1:
                targets[bad, 0] = 1.0
        return replace(self, targets=targets, bad=bad)


@dataclass(frozen=True)
class PartedRead(Read):
    """The same of n records in partitions: `targets` are those of a record that nobody has."""

    n: int = 0

    @property
    def columns(self) -> Sequence[Any]:
        return label_columns(self.n, self.targets.shape[1])

    @property
    def places(self) -> Any:
        return PartedLabels(self.n, places)


@dataclass(frozen=True)
class Released:
    """Of `trials` runs: weights (trials, models, features), the runs behind them and the settings they had."""

    weights: Array
    scaling: float
    runs: tuple[Solution, ...]
    plan: rules.FitPlan

    @property
    def coef(self) -> Array:
        """(trials, models, d), without the weight of the constant feature."""
        return self.weights[..., :-1] if self.scaling else self.weights

    @property
    def intercept(self) -> Array:
        """(trials, models)."""
        return self.scaling * self.weights[..., -1]


@dataclass(repr=False, eq=False)
class PrivateLinear(BaseEstimator):
    """Base: rows within `data_norm`, and linear models of them that a private solver fits.

    The number of records is public (neighbours replace one record), as are all parameters.
    """

    epsilon: float = 1.0
    delta: float = 1e-5
    _: KW_ONLY
    solver: str = "auto"
    data_norm: float | None = 1.0
    rows: str = "clip"
    fit_intercept: bool = True
    intercept_scaling: float | None = None
    l2: float | None = None
    radius: float | None = None
    solver_options: dict[str, Any] | None = None
    random_state: Any = None

    ball: ClassVar[rules.Ball] = "l2"
    _must_be_given: ClassVar[tuple[str, ...]] = ("data_norm",)

    def fit(self, X: Any, y: Any) -> Any:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound.

        A Dask array X is never loaded: its partitions send sums of gradients, to which the noise is added here.
        """
        X, read = self._parted(X, y) if is_dask(X) else self._given_here(X, y)
        released = self._release(X, read, seed_from(self.random_state), trials=1)
        if read.classes is not None:
            self.classes_ = read.classes
        self.coef_, self.intercept_ = self._shaped(released.coef[0], released.intercept[0])
        self.guarantee_ = self.guarantee()
        self.solver_, self.plan_ = self._solver_name(), released.plan
        self.noise_std_ = max(run.noise_std for run in released.runs)
        self.rests_on_ = released.runs[0].rests_on + (("guarantees.compose",) if len(released.runs) > 1 else ())
        self.n_iter_ = max(run.steps for run in released.runs)
        self.caveats_ = released.runs[0].caveats
        if self.random_state is not None:
            self.caveats_ = (SEEDED, *self.caveats_)
            warn_of_seed("random_state")
        return self

    def _given_here(self, X: Any, y: Any) -> tuple[Table, Read]:
        """Arrays in memory, or in a file that is mapped to it."""
        if self.rows == "clip":  # whatever a record holds: sizes and types alone may be refused
            X = validate_data(self, X, None if y is None else "no_validation", dtype=None, ensure_all_finite=False)
            X, y = as_rows(X), column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(self, X, y, dtype="numeric", y_numeric=False, multi_output=False)
            X = as_rows(X)
        return X, self._read(X, y)

    def _parted(self, X: Any, y: Any) -> tuple[Partitions, Read]:
        """Dask arrays, of which sizes and types alone are looked at here. Bounds must be given."""
        self._must_know_bounds("Pass {}: data in partitions are not looked through for it.")
        X = partitioned(X, y)
        n, d = X.shape
        self.n_features_in_ = d
        self.__dict__.pop("feature_names_in_", None)
        public = self._read(np.zeros((1, d)), self._some_label())  # a record that nobody has shows what is public
        return X, PartedRead(**{**vars(public), "bad": np.zeros(0, bool)}, n=n)

    def __getstate__(self) -> dict[str, Any]:
        """For a pickle or a copy: a fitted model goes without the seed, which would give its noise away."""
        state = dict(super().__getstate__())
        return state | {"random_state": None} if "coef_" in state else state

    def __sklearn_tags__(self) -> Any:
        """With rows="clip" every record is taken, whatever it holds."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = self.rows == "clip"
        return tags

    def guarantee(self) -> Guarantee:
        """What `fit` gives, by the parameters alone."""
        must_be_positive("epsilon", self.epsilon)
        remedy = "Pass delta=1e-5, or 0 for pure privacy."
        delta = number("delta", self.delta, "at least 0 and below 1", remedy, lambda found: 0 <= found < 1)
        return ApproxDP(float(self.epsilon), delta) if delta else PureDP(float(self.epsilon))

    def mechanism(self) -> Callable[[Any, np.random.Generator, int], Array]:
        """The whole fit, as an audit wants it: ((X, y), rng, trials) -> coefficients and intercepts, one row a run.

        Bounds and classes must be given, so that nothing but the release depends on the data.
        """
        self._must_know_bounds("Pass {}: a mechanism may not look it up.")

        def fitted(data: Any, rng: np.random.Generator, trials: int) -> Array:
            X, y = as_rows(np.asarray(data[0])), np.asarray(data[1])
            released = self._release(X, self._read(X, y), seed_of(rng), trials)
            return np.concatenate([released.coef.reshape(trials, -1), released.intercept], axis=1)

        return fitted

    def _must_know_bounds(self, remedy: str) -> None:
        for name in self._must_be_given:
            if getattr(self, name) is None:
                raise InvalidInput(name, None, "given", remedy.format(name))

    # What each estimator says -----------------------------------------------------------------------
    def _loss(self) -> Loss:
        raise NotImplementedError

    def _targets(self, y: Any) -> Read:
        raise NotImplementedError

    def _some_label(self) -> Any:
        """An array of one label that may occur."""
        raise NotImplementedError

    def _shaped(self, coef: Array, intercept: Array) -> tuple[Any, Any]:
        """coef_ and intercept_, from one row a model."""
        raise NotImplementedError

    def _problems(self, kind: type[Solver], X: Any, read: Read, row_bound: float) -> Sequence[Problem]:
        """What is solved, with a share of the budget each: one linear model for each column of targets."""
        loss, size = self._loss(), read.label_bound
        return [Problem(X, y, loss, row_bound=row_bound, label_bound=size) for y in read.columns]

    # The fit ----------------------------------------------------------------------------------------
    def _release(self, X: Table | Partitions, read: Read, seed: np.random.SeedSequence | None, trials: int) -> Released:
        """The fit itself: everything that meets the records is here or in `_read`."""
        kind = self._kind()
        scaling = self._scaling(kind.name, read.data_norm, X.shape[1])
        # privacy: the constant feature lengthens every row, and the bound knows
        row_bound = float(np.hypot(read.data_norm, scaling))
        rows: BoundedRows | PartedRows
        if isinstance(X, Partitions):
            reader = PartitionReader(self._without_seed(), scaling)
            entry = max(min(read.data_norm, self._entry_bound() or np.inf), scaling)
            rows = PartedRows(X.blocks, reader, (X.shape[0], X.shape[1] + (scaling != 0)), row_bound, entry)
        else:
            rows = self._bounded(X, read, scaling)
        problems = self._problems(kind, rows, read, row_bound)
        seeds = [None] * len(problems) if seed is None else seed.spawn(len(problems))
        done = [self._solve(kind, p, len(problems), child, trials) for p, child in zip(problems, seeds, strict=True)]
        weights = np.concatenate([run.w.reshape(trials, -1, rows.shape[1]) for run, _ in done], axis=1)
        return Released(weights, scaling, tuple(run for run, _ in done), done[0][1])

    def _bounded(self, X: Table, read: Read, scaling: float) -> BoundedRows:
        """The rows within the public bounds, with the constant feature."""
        norms = None if read.norms is None else np.where(read.bad, 0.0, read.norms)
        return bounded(mended(X, read.bad), read.data_norm, self.rows, scaling, self._entry_bound(), norms)

    def _entry_bound(self) -> float | None:
        return rules.checked(self.solver_options).get("entry_bound")

    def _without_seed(self) -> Any:
        """The settings alone: what reads records elsewhere has no use for the noise."""
        return type(self)(**{**self.get_params(deep=False), "random_state": None})

    def _solve(
        self, kind: type[Solver], records: Problem, parts: int, seed: np.random.SeedSequence | None, trials: int
    ) -> tuple[Solution, rules.FitPlan]:
        """One part with its share of the budget: the best share that the solver can be calibrated for."""
        must_be_quick(kind, records.n)
        shares = rules.shares(self.guarantee(), parts)
        for share in shares:
            setting = rules.FitSetting(kind.name, share, records, self.ball)
            plan = self._fit_plan(setting)
            problem = replace(records, l2=plan.l2, constraint=plan.constraint)
            try:
                with in_percent(f"fitting by {kind.name}"):
                    return made(kind, plan.options).solution(problem, share, seed, trials=trials), plan
            except InvalidInput as refused:
                if refused.what == "guarantee" and share is not shares[-1]:
                    continue
                explained = rules.explained(refused, setting, self.radius)
                if explained is refused:
                    raise
                raise explained from refused
        raise AssertionError("the last share returns or raises")

    def _fit_plan(self, setting: rules.FitSetting) -> rules.FitPlan:
        """The user's settings, completed by the rules."""
        return rules.plan(setting, self.l2, self.radius, self.solver_options)

    def _kind(self) -> type[Solver]:
        """The solver of that name."""
        return found(self._solver_name())

    def _solver_name(self) -> str:
        """As asked for, or by the rule."""
        return rules.automatic_solver(self.delta, self.ball) if self.solver == "auto" else self.solver

    def _scaling(self, name: str, data_norm: float, d: int) -> float:
        """The value of the constant feature, 0 without an intercept."""
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise InvalidInput("fit_intercept", self.fit_intercept, "True or False", "Leave it out for True.")
        if not self.fit_intercept:
            return 0.0
        if self.intercept_scaling is None:
            return rules.automatic_intercept_scaling(name, data_norm, d)
        must_be_positive("intercept_scaling", self.intercept_scaling)
        return float(self.intercept_scaling)

    def _read(self, X: Table, y: Array) -> Read:
        """Bounds and targets; a bound that is not given is read off the data, with a warning."""
        self.guarantee()  # refuses bad ones before anything is looked at
        norm = self._given("data_norm", "largest norm of a row", lambda: largest(row_norms(X)))
        read = replace(self._targets(y), data_norm=norm)
        if self.rows != "clip":
            return read
        norms = row_norms(X)
        return replace(read.without(not_finite(X, norms)), norms=norms)

    def _given(self, name: str, what: str, look: Callable[[], float]) -> float:
        """A bound as given, or as the data have it, with a warning."""
        value = getattr(self, name)
        if value is None:
            warn_of_leak(f"{name} is None: the {what} is read off the data", f"{name}, from what is publicly known.")
            value = look() or 1.0
        must_be_positive(name, value)
        if not SMALLEST <= value <= LARGEST:
            raise InvalidInput(name, value, f"between {SMALLEST:g} and {LARGEST:g}", "Scale the data.")
        return float(value)

    def _decision(self, X: Any) -> Array:
        """<x, w> + b, one column a model."""
        check_is_fitted(self)
        if is_dask(X):
            remedy = "Predict block by block: X.map_blocks(model.predict, drop_axis=1, dtype=...)."
            raise InvalidInput("X", "a Dask array", "rows in memory", remedy)
        if self.rows == "clip":  # as in the fit
            X = as_numbers(validate_data(self, X, dtype=None, reset=False, ensure_all_finite=False))
            X = np.where(not_finite(X, row_norms(X))[:, None], 0.0, X)
        else:
            X = validate_data(self, X, dtype=float, reset=False)
        return X @ np.atleast_2d(self.coef_).T + self.intercept_


def warn_of_leak(what: str, remedy: str) -> None:
    """Where the user called, however deep that is below."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dpcheck.estimators"):
        level, frame = level + 1, frame.f_back
    text = f"{what}, which the guarantee does not cover. Pass {remedy}"
    warnings.warn(text, PrivacyLeakWarning, stacklevel=level)


def must_be_quick(kind: type[Solver], n: int) -> None:
    """Random-round SGD takes n² steps, whatever is asked for."""
    if kind.name == "rrpsgd" and n**2 > LONG:
        warnings.warn(f"rrpsgd takes n² = {n**2:g} steps: this may be long. dp_sgd is the faster kin.", stacklevel=2)


def seed_from(random_state: Any) -> np.random.SeedSequence | None:
    """None, for noise of the operating system, whatever numpy's global state; a whole number is for tests.

    Generators are refused: a model would keep them, its copies would draw the same noise, and who rewinds one has it.
    """
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0
    if random_state is not None and not whole:
        limit = "a whole number >= 0, or None"
        raise InvalidInput("random_state", random_state, limit, "Leave it out: the noise is then fresh in each fit.")
    return None if random_state is None else seed_of(random_state)


def as_numbers(values: Any) -> Array:
    """Floats, and NaN for what is no number: a message would tell of it."""
    if values.dtype.kind in "fiub":
        return np.asarray(values, float)

    def number(value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            return np.nan

    return np.array([number(value) for value in values.ravel()], float).reshape(values.shape)


def as_rows(X: Any) -> Table:
    """A table of floats as it is, one of other numbers to be read as floats: neither is copied."""
    if X.dtype.kind not in "fiub":
        return as_numbers(X)
    return X if X.dtype == float else GivenRows(X)


def not_finite(X: Table, norms: Array) -> NDArray[np.bool_]:
    """Which rows hold something that is no finite number; a norm alone may be too large for one."""
    bad = ~np.isfinite(norms)
    for part in parts(X, BLOCK):
        if np.any(bad[part]):
            bad[part] &= ~np.isfinite(X[part]).all(axis=1)
    return bad


def mended(X: Table, bad: NDArray[np.bool_]) -> Table:
    """Zeros for bad rows; the table itself where there are none."""
    return as_given(X, bad=bad) if np.any(bad) else X


def largest(values: Array) -> float:
    """Of those that are finite numbers; 0 without any."""
    return float(np.max(values, initial=0.0, where=np.isfinite(values)))


def bounded(
    X: Table,
    data_norm: float,
    rows: str,
    constant: float = 0.0,
    entries: float | None = None,
    norms: Array | None = None,
) -> BoundedRows:
    """Rows within the bound: clipped, each by itself, or refused (but for a rounding over it); then the constant.

    Clipped rows have their `entries` within a bound too, if there is one. Their `norms` are computed unless given.
    """
    if rows not in ("clip", "refuse"):
        raise InvalidInput("rows", rows, '"clip" or "refuse"', "Clipping scales a row over the bound down to it.")
    norms = row_norms(X) if norms is None else norms
    worst = int(norms.argmax())
    if rows == "refuse" and norms[worst] > data_norm * (1 + ROUNDING):
        remedy = 'Scale the rows, raise data_norm or pass rows="clip".'
        raise InvalidInput(f"norm of row {worst}", "too large", f"at most data_norm={data_norm}", remedy)
    if np.isinf(norms[worst]):  # no number is as large: shortened by their largest entry
        X = as_given(X, long=np.isinf(norms), length=data_norm)
        norms = row_norms(X)
    factors = clipping(norms, data_norm, X.shape[1])
    if entries is not None and rows == "clip":
        must_be_positive("entry_bound", entries)
        factors = np.minimum(factors, clipping(largest_entries(X), entries, X.shape[1]))
    return BoundedRows(X, norms, factors, constant)


def clipping(norms: Array, data_norm: float, d: int) -> Array:
    """What to multiply each row with: 1 within the bound, else what scales it down to it."""
    # A norm is computed to d/2 + 1 units of rounding, its quotient and the product to one more each: a hair less.
    less = data_norm * (1 - (d + 6) * 2.0**-53)
    return np.divide(less, norms, out=np.ones(len(norms)), where=norms > data_norm)


def found(name: str) -> type[Solver]:
    """A registered solver that minimises the risk of linear models."""
    solver = solver_named(str(name))
    if solver is None or not fits_models(solver):
        known = sorted(stem for stem, kind in solvers().items() if fits_models(kind))
        remedy = "Check the spelling." if solver is None else f"{solver.name} works on other problems: use its solve."
        raise UnknownName("solver", name, f"one of auto, {', '.join(known)}", remedy)
    return solver


def fits_models(solver: type[Solver]) -> bool:
    """Whether an estimator may be asked to use it."""
    return solver.minimises and solver.for_estimators


def made(solver_type: type[Solver], options: Mapping[str, Any]) -> Solver:
    """The solver with these options."""
    known = sorted(f.name for f in fields(solver_type) if f.init)
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidInput("solver_options", unknown, f"among those of {solver_type.name}: {known}", "Check them.")
    return solver_type(**options)
