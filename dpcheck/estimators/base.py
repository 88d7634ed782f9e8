"""What the private estimators share: public bounds, clipping, the intercept, the fit and what it guarantees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bounds.errors import InvalidInput, UnknownName
from bounds.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.descent import seed_of
from dpcheck.estimators import rules
from dpcheck.losses import Array, must_be_positive
from dpcheck.problems import Problem
from dpcheck.registry import solver_named, solvers
from dpcheck.solver import Solution, Solver

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn 1.5

    def validate_data(estimator: Any, *args: Any, **settings: Any) -> Any:
        """As from 1.6 on."""
        return estimator._validate_data(*args, **settings)


class PrivacyLeakWarning(UserWarning):
    """A default was read off the data: the guarantee does not cover what that reveals."""


@dataclass(frozen=True)
class Read:
    """What a fit takes from its arguments: public bounds, targets one column a part, and classes if there are."""

    data_norm: float
    label_bound: float
    targets: Array
    classes: Any = None


@dataclass(frozen=True)
class Released:
    """Of `trials` runs: coefficients (trials, parts, d), intercepts (trials, parts), and the runs behind them."""

    coef: Array
    intercept: Array
    runs: tuple[Solution, ...]


class PrivateLinear(BaseEstimator):
    """Base: rows within `data_norm`, one private linear model for each column of targets.

    The number of records is public (neighbours replace one record), as are all parameters.
    """

    ball: ClassVar[rules.Ball] = "l2"

    def fit(self, X: Any, y: Any) -> Any:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound."""
        X, y = validate_data(self, X, y, dtype=float, y_numeric=False, multi_output=False)
        read = self._read(X, y)
        released = self._release(X, read, seed_from(self.random_state), trials=1)
        if read.classes is not None:
            self.classes_ = read.classes
        self.coef_, self.intercept_ = self._shaped(released.coef[0], released.intercept[0])
        self.guarantee_ = self.guarantee()
        self.noise_std_ = max(run.noise_std for run in released.runs)
        self.rests_on_ = released.runs[0].rests_on + (("guarantees.compose",) if len(released.runs) > 1 else ())
        self.n_iter_ = max(run.steps for run in released.runs)
        return self

    def guarantee(self) -> Guarantee:
        """What `fit` gives, by the parameters alone."""
        if not 0 <= self.delta < 1:
            raise InvalidInput("delta", self.delta, "at least 0 and below 1", "Pass delta=1e-5, or 0 for pure privacy.")
        must_be_positive("epsilon", self.epsilon)
        return ApproxDP(float(self.epsilon), float(self.delta)) if self.delta > 0 else PureDP(float(self.epsilon))

    def mechanism(self) -> Callable[[Any, np.random.Generator, int], Array]:
        """The whole fit, as an audit wants it: ((X, y), rng, trials) -> coefficients and intercepts, one row a run.

        Bounds and classes must be given, so that nothing but the release depends on the data.
        """
        self._must_not_look()

        def fitted(data: Any, rng: np.random.Generator, trials: int) -> Array:
            X, y = np.asarray(data[0], float), np.asarray(data[1])
            released = self._release(X, self._read(X, y), seed_of(rng), trials)
            return np.concatenate([released.coef.reshape(trials, -1), released.intercept], axis=1)

        return fitted

    def _release(self, X: Array, read: Read, seed: np.random.SeedSequence, trials: int) -> Released:
        """The fit itself: everything that meets the records is here or in `_read`."""
        d = X.shape[1]
        name = rules.automatic_solver(self.delta) if self.solver == "auto" else self.solver
        found(name)
        X = bounded(X, read.data_norm, self.rows)
        scaling = self._scaling(name, read.data_norm, d)
        if scaling:  # privacy: the constant feature lengthens every row, and the bound knows
            X = np.column_stack([X, np.full(len(X), scaling)])
        row_bound = float(np.hypot(read.data_norm, scaling))
        parts = read.targets.shape[1]
        coef, intercept, runs = [], [], []
        for y, child in zip(read.targets.T, seed.spawn(parts), strict=True):
            records = Problem(X, y, self._loss(), row_bound=row_bound, label_bound=read.label_bound)
            run = self._solve(name, records, parts, child, trials)
            runs.append(run)
            coef.append(run.w[:, :d])
            intercept.append(scaling * run.w[:, d] if scaling else np.zeros(trials))
        return Released(np.stack(coef, axis=1), np.stack(intercept, axis=1), tuple(runs))

    def _solve(self, name: str, records: Problem, parts: int, seed: np.random.SeedSequence, trials: int) -> Solution:
        """One part with its share of the budget: the best share that the solver can be calibrated for."""
        shares = rules.shares(self.guarantee(), parts)
        for share in shares:
            plan = rules.plan(rules.Setting(name, share, records, self.ball), self.l2, self.radius, self.solver_options)
            problem = replace(records, l2=plan.l2, constraint=plan.constraint)
            try:
                return made(found(name), plan.options).solve(problem, share, seed, trials=trials)
            except InvalidInput as refused:
                if refused.what != "guarantee" or share is shares[-1]:
                    raise
        raise AssertionError("the last share returns or raises")

    def _scaling(self, name: str, data_norm: float, d: int) -> float:
        """The value of the constant feature, 0 without an intercept."""
        if not self.fit_intercept:
            return 0.0
        if self.intercept_scaling is None:
            return rules.automatic_intercept_scaling(name, data_norm, d)
        must_be_positive("intercept_scaling", self.intercept_scaling)
        return float(self.intercept_scaling)

    def _read(self, X: Array, y: Array) -> Read:
        """Bounds and targets; a bound that is not given is read off the data, with a warning."""
        norm = self._given("data_norm", "largest norm of a row", lambda: float(np.linalg.norm(X, axis=1).max()))
        return replace(self._targets(y), data_norm=norm)

    def _given(self, name: str, what: str, look: Callable[[], float]) -> float:
        """A bound as given, or as the data have it, with a warning."""
        value = getattr(self, name)
        if value is None:
            warnings.warn(
                f"{name} is None: the {what} is read off the data, which the guarantee does not cover. "
                f"Pass {name} from what is publicly known.",
                PrivacyLeakWarning,
                stacklevel=4,
            )
            return look() or 1.0
        must_be_positive(name, value)
        return float(value)

    def _must_not_look(self) -> None:
        """Refuse defaults that look at the data."""
        for name in self._must_be_given:
            if getattr(self, name) is None:
                raise InvalidInput(name, None, "given", f"Pass {name}: a mechanism may not look it up.")

    def _decision(self, X: Any) -> Array:
        """<x, w> + b, one column a part."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        return X @ np.atleast_2d(self.coef_).T + self.intercept_


def seed_from(random_state: Any) -> np.random.SeedSequence:
    """Fresh entropy for None, whatever numpy's global state: noise that can be predicted hides nothing."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence([int(word) for word in random_state.randint(0, 2**31, size=4)])
    return seed_of(random_state)


def bounded(X: Array, data_norm: float, rows: str) -> Array:
    """Rows within the bound: clipped, each by itself, or refused."""
    if rows not in ("clip", "refuse"):
        raise InvalidInput("rows", rows, '"clip" or "refuse"', "Clipping scales a row over the bound down to it.")
    norms = np.linalg.norm(X, axis=1)
    if rows == "refuse":
        worst = int(norms.argmax())
        if norms[worst] > data_norm:
            remedy = 'Scale the rows, raise data_norm or pass rows="clip".'
            raise InvalidInput(f"norm of row {worst}", float(norms[worst]), f"at most data_norm={data_norm}", remedy)
        return X
    return clipped(X, norms, data_norm)


def clipped(X: Array, norms: Array, data_norm: float) -> Array:
    """Rows over the bound scaled down to it."""
    # Twice: the first product may be rounded to a hair over the bound.
    for _ in range(2):
        X = X * (data_norm / np.maximum(norms, data_norm))[:, None]
        norms = np.linalg.norm(X, axis=1)
    return X


def found(name: str) -> type[Solver]:
    """A registered solver."""
    solver = solver_named(str(name))
    if solver is None:
        raise UnknownName("solver", name, f"one of auto, {', '.join(sorted(solvers()))}", "Check the spelling.")
    return solver


def made(solver_type: type[Solver], options: Mapping[str, Any]) -> Solver:
    """The solver with these options; none that weakens its noise."""
    known = sorted(f.name for f in fields(solver_type) if f.init and f.name != "noise_factor")
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidInput("solver_options", unknown, f"among those of {solver_type.name}: {known}", "Check them.")
    return solver_type(**options)
