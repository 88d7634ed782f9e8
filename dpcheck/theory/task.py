"""A task: a problem outlined by its sizes, loss and guarantee, and a claim's bound on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, FunctionClass, Kind, Setting, pretty
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.given import number
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import TABLE, T
from dpcheck.bounds.language.utility_case import ANY, CONVEX, PURE, STRONG, UtilityCase
from dpcheck.bounds.privacy.exact import counted
from dpcheck.bounds.registry import entries
from dpcheck.problems.conditioning import public_gap
from dpcheck.problems.losses import Huber, Logistic, Loss, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems.outline import Outline, outline
from dpcheck.theory.comparison import holding, least_over_steps
from dpcheck.theory.likeness import CENTRAL, LABELS, LOCALLY

LOSSES: Mapping[str, Loss] = {
    "logistic": Logistic(),
    "huber": Huber(),
    "hinge": SmoothedHinge(),
    "squared": Squared(),
    "sigmoid": Sigmoid(),
}
MODELS = {CENTRAL: (CENTRAL,), LOCALLY: (LOCALLY,), LABELS: (LABELS, CENTRAL)}  # hiding a record hides its label
WEAKER = {STRONG: (STRONG, CONVEX, ANY), CONVEX: (CONVEX, ANY), ANY: (ANY,)}  # whose bounds hold for such losses
PAIRS = (("L", "G"), ("beta", "L_smooth"))  # one constant, under the names of two documents
MINIMISER = ("w_hat", "distance", "R")  # what a bound D on the minimiser's norm bounds too, from the start 0
FAR = 1e3  # a margin at which a loss without a minimum is below 0
FAILURE = 0.05  # of a bound that holds with high probability, unless gamma is given


@dataclass(frozen=True, eq=False)
class LearningTask:
    """`given` are the numbers asked with; what follows from loss and bounds is derived, D = 1 and γ by default."""

    problem: Outline
    guarantee: PureDP | ApproxDP
    model: str
    given: Mapping[str, float]

    @property
    def losses(self) -> str:
        """The strongest class that the losses are of."""
        if not self.problem.convex:
            return ANY
        return STRONG if self.problem.strong_convexity > 0 else CONVEX

    @property
    def facts(self) -> dict[str, bool]:
        """What is known of the losses; a constant that is given is taken at its word."""
        problem, given = self.problem, self.given
        return {
            "convex": problem.convex,
            "strongly convex": self.losses == STRONG,
            "smooth": math.isfinite(problem.smoothness) or "beta" in given,
            "Lipschitz": True,  # somewhere: with which constant, and where, `numbers` says
        }

    @property
    def radius(self) -> float:
        """A bound on the minimiser's norm: from F(0) ≥ F(ŵ) ≥ μ/2‖ŵ‖² and μ‖ŵ‖ ≤ G where there is a regulariser."""
        if "D" in self.given:
            return self.given["D"]
        l2 = self.problem.l2
        gap, pull = public_gap(self.problem), self.problem.data_lipschitz
        return min(math.sqrt(2 * gap / l2), pull / l2) if l2 > 0 else 1.0

    @property
    def assumed(self) -> tuple[str, ...]:
        """Numbers that nothing decides, by default."""
        free = self.losses == CONVEX and "D" not in self.given
        return ("D",) if free else ()

    def admits(self, case: UtilityCase) -> bool:
        """Whether bounds of that case hold for these losses and this guarantee."""
        pure = isinstance(self.guarantee, PureDP)
        return case.losses in WEAKER[self.losses] and (case.privacy == PURE or not pure)

    def numbers(self, claim: Claim) -> dict[str, float]:
        """The claim's symbols on this task. L and β are of what it calls a loss: with the regulariser, or without."""
        problem, lipschitz, radius = self.problem, claim.has("Lipschitz"), self.radius
        regularised = problem.l2 > 0 and not regularised_apart(claim)
        inside = lipschitz is not None and "≤ 2D" in lipschitz.where
        inside |= regularised and claim.kind is Kind.LOWER_BOUND  # of a class of losses on a bounded set
        L, beta = problem.data_lipschitz, problem.smoothness - problem.l2
        if inside or regularised:
            L, beta = problem.lipschitz_within(2 * radius if inside else math.inf), problem.smoothness
        found = {"n": float(problem.n), "d": float(problem.d), "L": L, "beta": beta, "gamma": FAILURE}
        found |= {name: float(value) for name, value in self.guarantee.parameters.items()}
        found |= {"mu": problem.strong_convexity} if self.losses == STRONG else {}
        found |= self.given
        gaps = [public_gap(problem)]
        if self.losses != ANY:
            found |= {"D": radius, **{name: self.given.get(name, radius) for name in MINIMISER}}
            gaps += [problem.data_lipschitz * radius]
        if self.losses == STRONG:
            gaps += [problem.data_lipschitz**2 / (2 * problem.strong_convexity)]
        found.setdefault("gap0", min(gaps))
        if "D" in found:  # the set may be taken as the ball that holds the minimiser
            found.setdefault("diameter", 2 * found["D"])
            found.setdefault("G_C", found["D"] * math.sqrt(problem.d))
        found |= {other: found[name] for name, other in PAIRS}
        if found["beta"] > 0:
            found.setdefault("D_F", math.sqrt(2 * found["gap0"] / found["beta"]))
        return {name: value for name, value in found.items() if math.isfinite(value)}


def task_of(
    *,
    n: float,
    d: float,
    eps: float,
    delta: float = 1e-5,
    loss: str | Loss = "logistic",
    strongly_convex: float = 0.0,
    model: str = CENTRAL,
    row_bound: float = 1.0,
    **given: float,
) -> LearningTask:
    """Refuses unknown names and numbers outside their domain."""
    if not isinstance(loss, Loss) and (not isinstance(loss, str) or loss not in LOSSES):
        raise UnknownName("loss", loss, f"one of {', '.join(LOSSES)}", "Or pass a Loss, and its constants follow.")
    if not isinstance(model, str) or model not in MODELS:
        raise UnknownName("model", model, f"one of {', '.join(MODELS)}", "Leave it out for central.")
    entries()  # which declare the symbols
    by_name = {str(s): s for s in TABLE}
    for name, value in (*given.items(), ("eps", eps)):
        if name not in by_name:
            raise UnknownName("symbol", name, "one of the table's", "See `dpcheck claims ID` for those of a claim.")
        TABLE[by_name[name]].must_contain(value)
        if np.ndim(value) != 0 or not float(value) > 0:
            raise InvalidInput(name, value, "one number > 0", f"It is the {TABLE[by_name[name]].meaning}.")
    remedy = "Pass 1e-5, or 0 for pure privacy."
    delta = number("delta", delta, "a number in [0, 1)", remedy, lambda found: 0 <= found < 1)
    of = LOSSES[loss] if isinstance(loss, str) else loss
    if np.min(of.value(np.array([-FAR, FAR]), np.ones(2))) < 0:
        limit, remedy = "never negative, so that the gap at the start is known", "Choose one that is bounded below."
        raise InvalidInput("loss", type(of).__name__, limit, remedy)
    problem = outline(counted("n", n), counted("d", d), of, l2=strongly_convex, row_bound=row_bound)
    guarantee = ApproxDP(float(eps), delta) if delta else PureDP(float(eps))
    named = {first: given[name] for first, other in PAIRS for name in (first, other) if name in given}
    return LearningTask(problem, guarantee, model, {k: float(v) for k, v in {**given, **named}.items()})


def regularised_apart(claim: Claim) -> bool:
    """Whether the regulariser is a function r of its own, so that the losses are those of the records alone."""
    return any(isinstance(h, Setting) and h.words.startswith("r ") for h in claim.assumes)


# A claim's bound -------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Bound:
    """A claim on a task: what its own hypotheses fix is put in, T is chosen best where it is open."""

    claim: Claim
    formula: sympy.Expr
    conditions: tuple[sympy.Basic, ...]
    numbers: Mapping[str, float]
    undecided: tuple[str, ...]

    def along(self, **values: Any) -> np.ndarray:
        """The bound with these (arrays) in place of its numbers; nan where a hypothesis fails."""
        return least_over_steps(self.formula, self.conditions, {**self.numbers, **values})[0]

    @cached_property
    def here(self) -> tuple[float, float | None]:
        """At the task's own numbers, and the best T where it is open."""
        value, steps = least_over_steps(self.formula, self.conditions, self.numbers)
        return float(value), None if steps is None else float(steps)


def bound_on(claim: Claim, task: LearningTask) -> Bound | str:
    """The claim's bound on the task, or why there is none: losses of another class, or numbers that it needs."""
    numbers = raised(claim, task.numbers(claim)) | {str(s): 1.0 for s in claim.hidden if str(s) not in task.given}
    for assumed in claim.assumes:
        if isinstance(assumed, FunctionClass) and task.facts.get(assumed.name) is False:
            return f"{assumed}: not so here"
        if isinstance(assumed, FunctionClass) and assumed.name == "Lipschitz" and "L" not in numbers:
            return f"{assumed}: this one is so in balls only"
    formula, conditions = fixed_by_hypotheses(claim, set(numbers))
    missing = sorted(str(s) for s in formula.free_symbols if str(s) not in numbers and s != T)
    if missing:
        options = ", ".join(f"--{name} ({row.printed})" for row in TABLE.values() if (name := row.name) in missing)
        return f"needs {options}"
    symbols = {s for c in conditions for s in c.free_symbols} - set(claim.hidden)  # such a condition is for a constant
    known = {s for s in symbols if str(s) in numbers or (s == T and T in formula.free_symbols)}
    decided = tuple(c for c in conditions if c.free_symbols <= known)
    words = [str(h) for h in claim.assumes if isinstance(h, FunctionClass) and h.name not in task.facts]
    words += [h.words for h in claim.assumes if isinstance(h, Setting)]
    words += [pretty(c) for c in conditions if c not in decided]
    return Bound(claim, formula, decided, numbers, tuple(words))


def raised(claim: Claim, numbers: Mapping[str, float]) -> dict[str, float]:
    """Where a claim wants G = 1 or G >= 1: a loss that is less steep, or less bent, is that as well."""
    found = dict(numbers)
    for condition in claim.conditions:
        if isinstance(condition, sympy.Eq | sympy.Ge) and condition.lhs.is_Symbol and condition.rhs.is_number:
            names = next((pair for pair in PAIRS if str(condition.lhs) in pair), ())
            found |= {name: max(found[name], float(condition.rhs)) for name in names if name in found}
    return found


def fixed_by_hypotheses(claim: Claim, known: set[str]) -> tuple[sympy.Expr, list[sympy.Basic]]:
    """Formula and conditions after each equation for a symbol that is not known has been put in."""
    fixing = {
        c.lhs: c.rhs
        for c in claim.conditions
        if isinstance(c, sympy.Eq) and c.lhs.is_Symbol and str(c.lhs) not in known and c.lhs not in c.rhs.free_symbols
    }
    formula, rest = claim.formula, [c for c in claim.conditions if not (isinstance(c, sympy.Eq) and c.lhs in fixing)]
    for _ in fixing:  # an equation may name what another fixes
        fixing = {s: value.xreplace(fixing) for s, value in fixing.items()}
    return formula.xreplace(fixing), [c for c in (c.xreplace(fixing) for c in rest) if c != sympy.true]


def why_not(bound: Bound) -> str:
    """The condition that the task's numbers break; "" if the bound is a number > 0 there (log n is none at n = 1)."""
    if 0 < bound.here[0] < math.inf:
        return ""
    for condition in bound.conditions:
        names = sorted(condition.free_symbols, key=str)
        if T in names:
            continue  # open: some T may do
        here = [bound.numbers[str(s)] for s in names]
        with np.errstate(all="ignore"):
            held = bool(holding(condition, names)(*map(np.float64, here)))
        if not held:
            given = ", ".join(f"{TABLE[s].printed} = {value:g}" for s, value in zip(names, here, strict=True))
            return f"{pretty(condition)} fails at {given}"
    return "no number here"
