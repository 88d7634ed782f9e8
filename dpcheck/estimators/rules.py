"""What an estimator uses where its user says nothing: functions of n, d, the public bounds and the guarantee.

None looks at a record. The constants were chosen by trial on scikit-learn's embedded data (digits, wine, iris, breast
cancer) and on synthetic data: they are no theorem's, and never a user's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP, Guarantee, PureDP
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.problems.constraints import Constraint, L1Ball, L2Ball, WholeSpace
from dpcheck.problems.problem import Problem
from dpcheck.problems.softmax import Softmax

Ball = Literal["l1", "l2"]

# Solvers that minimise a regularised risk; the others take none.
REGULARISED = ("dp_svrg", "dp_svrg_minibatch", "dp_svrgpp", "dp_katyusha", "rrpsgd")
VARIANCE_REDUCED = ("dp_svrg", "dp_svrg_minibatch", "dp_svrgpp", "dp_katyusha")
UNCONSTRAINED = (*REGULARISED, "outpert_gd", "dp_lssgd", "dp_lsadam", "dp_srm")  # the others take a ball by default
PURE: dict[Ball, str] = {"l1": "dp_fw_l1", "l2": "outpert_gd"}
MOST_STEPS, MOST_WITH_MOMENTUM, MOST_THRESHOLDED = 300, 50, 20


@dataclass(frozen=True)
class FitSetting:
    """The public facts of a fit; of the records their number, dimension, bounds and loss."""

    solver: str
    guarantee: Guarantee
    records: Problem
    ball: Ball = "l2"

    @property
    def resolution(self) -> float:
        """How far the mean of n records of norm 1 stands out of the noise that one release of it takes.

        n mu / sqrt(d) for Gaussian noise and n eps / d for the noise of pure privacy, up to a constant.
        """
        n, d = self.records.n, self.records.d
        if isinstance(self.guarantee, PureDP):
            return n * float(self.guarantee.eps) / d
        return n / (least_noise(self.guarantee) * math.sqrt(d))


@dataclass(frozen=True)
class FitPlan:
    """Regulariser, constraint set and options of the solver."""

    l2: float
    constraint: Constraint
    options: Mapping[str, Any] = field(default_factory=dict)


def automatic_solver(delta: float, ball: Ball = "l2") -> str:
    """Gaussian noise in few full gradients where a delta allows it, else a pure solver: that of the ball."""
    return "dp_gd" if delta > 0 else PURE[ball]


def automatic_intercept_scaling(solver: str, data_norm: float, d: int) -> float:
    """The value of the constant feature.

    A regulariser holds the intercept back by the square of what is lost here, so it is that of a whole row. Without
    one it lies between a row's norm and that of one of its d features: less of it, less noise. Thresholding compares
    weights: there it is one feature among others.
    """
    if solver == "dp_ight":
        return data_norm / math.sqrt(d)
    return data_norm if solver in REGULARISED else data_norm * d**-0.25


def plan(setting: FitSetting, l2: float | None, radius: float | None, options: Mapping[str, Any] | None) -> FitPlan:
    """The user's settings, completed."""
    chosen = checked(options)
    if l2 is not None:
        must_not_be_negative("l2", l2)
    x, smoothness = setting.resolution, setting.records.smoothness
    if l2 is None:
        l2 = smoothness * regulariser(setting.solver, x) if setting.solver in REGULARISED else 0.0
    if setting.solver == "dp_gd":
        chosen = descent(x, smoothness + l2, chosen) | chosen
    elif setting.solver in ("dp_sgd", "bassily_sgd"):
        chosen.setdefault("batch", max(1, round(setting.records.n / 20)))
    elif setting.solver == "outpert_gd":
        # Stopping early is its regulariser: noise grows as T/x while the risk left falls as 1/T.
        chosen.setdefault("steps", max(1, min(MOST_STEPS, round(min(0.4 * x, 3.5 * math.sqrt(x))))))
    elif setting.solver == "dp_fw_l1" and isinstance(setting.guarantee, PureDP):
        # What is left falls as 1/T while the budgets of T - 1 selections among 2d corners add up.
        choices = math.log(2 * setting.records.d * setting.records.n)
        chosen.setdefault(
            "steps",
            1 + max(1, min(MOST_STEPS, round(math.sqrt(setting.records.n * float(setting.guarantee.eps) / choices)))),
        )
    # The records' own constraint is the whole space: where that leaves gradients unbounded, a ball is needed.
    free = setting.ball == "l2" and math.isfinite(setting.records.data_lipschitz)
    if radius is None and setting.solver in UNCONSTRAINED and free:
        return FitPlan(l2, WholeSpace(), chosen)
    size = radius if radius is not None else reach(setting, chosen) / setting.records.row_bound
    if setting.solver in ("dp_sgd", "bassily_sgd"):
        chosen.setdefault("radius", size)
    return FitPlan(l2, L1Ball(size) if setting.ball == "l1" else L2Ball(size), chosen)


def thresholded(setting: FitSetting, nonzeros: int, l2: float | None, options: Mapping[str, Any] | None) -> FitPlan:
    """DP-IGHT: few steps where noise dominates, of half the size that uncorrelated columns of rows so long take.

    They are smaller where the largest of d entries of noise would make weights larger than the labels ask for.
    """
    if l2 is not None:
        must_not_be_negative("l2", l2)
    if isinstance(nonzeros, bool) or not isinstance(nonzeros, int | np.integer) or nonzeros < 1:
        raise InvalidInput("nonzeros", nonzeros, "a whole number >= 1", "Pass nonzeros=10 for example.")
    x, d = setting.resolution, setting.records.d
    steps = max(2, min(MOST_THRESHOLDED, round(0.6 * math.sqrt(x))))
    step_size = d / (2 * setting.records.row_bound**2) * min(1.0, x / (4 * math.sqrt(steps * math.log(2 * d))))
    given = checked(options)
    return FitPlan(l2 or 0.0, WholeSpace(), {"kept": int(nonzeros), "steps": steps, "step_size": step_size} | given)


def descent(x: float, smoothness: float, options: Mapping[str, Any]) -> dict[str, Any]:
    """Steps of DP-GD and their size: few where noise dominates; where there would be many, fewer with momentum."""
    plain = max(1, min(MOST_STEPS, round(0.3 * x)))
    steps = min(MOST_WITH_MOMENTUM, round(3.5 * math.sqrt(plain)))
    if steps >= plain or not options.keys().isdisjoint({"steps", "step_size", "momentum"}):
        # Below 2/L descent converges on every smooth risk; most data are less curved than the worst.
        return {"steps": plain, "step_size": 1.5 / smoothness}
    # Steps of r/L, but for the r - 1 that the last ones miss, lead as far as the plain ones where the risk is flat
    # (and a little further, for what is lost where it is not): (steps + 1 - r) r = 1.6 plain.
    r = (steps + 1 - math.sqrt((steps + 1) ** 2 - 4 * 1.6 * plain)) / 2
    return {"steps": steps, "step_size": 1 / smoothness, "momentum": 1 - 1 / r}


def checked(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy of the user's options."""
    if options is not None and not isinstance(options, Mapping):
        raise InvalidInput("solver_options", options, "a dict of settings by name", 'Pass {"steps": 20} for example.')
    return dict(options or {})


def must_not_be_negative(what: str, value: float) -> None:
    """Refuse anything but a finite number >= 0."""
    try:
        fine = bool(0 <= value < math.inf)
    except (TypeError, ValueError):  # no number at all
        fine = False
    if not fine:
        raise InvalidInput(what, value, "a finite number >= 0", "Leave it out for the rule's.")


def explained(refused: InvalidInput, setting: FitSetting, radius: float | None) -> InvalidInput:
    """A solver's refusal in the words of the estimators: what to change there."""
    if refused.what == "guarantee" and isinstance(setting.guarantee, PureDP):
        remedy = f"Pass delta > 0, or solver={PURE[setting.ball]!r} for pure privacy."
        return InvalidInput("guarantee", refused.value, refused.limit, remedy)
    if refused.what != "constraint":
        return refused
    if radius is not None and setting.ball == "l2" and setting.solver in UNCONSTRAINED:
        remedy = "dp_gd stays in a ball."
        return InvalidInput("radius", radius, f"None with solver={setting.solver!r} ({refused})", remedy)
    limit = f"one that works over an {setting.ball} ball ({refused})"
    if math.isinf(setting.records.data_lipschitz):
        remedy = "Over all weights the loss has no bounded gradient: PrivateHuber's has, or use dp_gd with delta > 0."
    elif setting.ball == "l2":
        remedy = "The sparse estimators work over an l1 ball; here dp_gd and dp_sgd do."
    else:
        remedy = "dp_gd, dp_sgd and dp_fw_l1 do."
    return InvalidInput("solver", setting.solver, limit, remedy)


def regulariser(solver: str, resolution: float) -> float:
    """Relative to the smoothness of the losses: less the finer the resolution."""
    least = 0.4 if solver in VARIANCE_REDUCED else 0.0  # their runs lengthen as its inverse
    return max(least, min(4.0, 32 / resolution))


def reach(setting: FitSetting, options: Mapping[str, Any]) -> float:
    """How large |<x, w>| may grow: what a label asks for; for classes, what the steps can reach, at most 30.

    The ball of several scores holds the weights of all classes.
    """
    loss = setting.records.loss
    if loss.labels == "real" and not isinstance(loss, Softmax):
        return 2 * setting.records.label_bound
    steps = options.get("steps") if not options.get("momentum") else None  # with momentum they lead further
    reached = float(min(30, max(1, steps or 30)))
    return math.sqrt(loss.classes) * reached if isinstance(loss, Softmax) else reached


def shares(guarantee: Guarantee, parts: int) -> tuple[Guarantee, ...]:
    """Guarantees that `parts` releases may each have for all of them to have this one; the best first.

    Gaussian releases of mu / sqrt(parts) compose to mu exactly; others add up their eps and their delta.
    """
    if parts == 1:
        return (guarantee,)
    if isinstance(guarantee, PureDP):
        return (PureDP(guarantee.eps / parts),)
    assert isinstance(guarantee, ApproxDP)
    gaussian = GaussianDP(1 / (least_noise(guarantee) * math.sqrt(parts)))
    return gaussian, ApproxDP(guarantee.eps / parts, guarantee.delta / parts)
