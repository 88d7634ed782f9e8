"""Problems, neighbours and guarantees on which output-perturbation gradient descent is tested."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from dpcheck.problems.losses import Huber, Logistic, SmoothedHinge
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.outpert_gd import descend, pull

FAR = 1e6  # labels so far away that a Huber loss keeps its full gradient
GUARANTEES: list[Guarantee] = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-2),
    ApproxDP(3.0, 1e-3),
    ZCDP(0.5),
    GaussianDP(1.0),
    RenyiDP(4.0, 1.0),
]
guarantees = st.one_of(
    st.floats(0.1, 4).map(PureDP),
    st.builds(ApproxDP, st.floats(0.1, 4), st.floats(1e-6, 0.1)),
    st.floats(0.02, 2).map(ZCDP),
    st.floats(0.1, 2).map(GaussianDP),
    st.builds(RenyiDP, st.floats(1.5, 20), st.floats(0.1, 2)),
)
losses = st.one_of(st.just(Logistic()), st.floats(0.1, 2).map(Huber), st.floats(0.1, 2).map(SmoothedHinge))
regularisers = st.floats(0.02, 1.0)
none = st.just(0.0)


@st.composite
def neighbours(draw: Any, l2: Any = none, loss: Any = losses) -> tuple[Problem, Problem]:
    """A random problem and one with its first record replaced, at times by the opposite of the largest record."""
    phi, size, d = draw(loss), draw(st.integers(2, 8)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((size + 1, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * rng.choice([1.0, 2.0], (size + 1, 1))
    bound = draw(st.sampled_from([0.5, 2.0, 50.0]))
    y = rng.choice([-1.0, 1.0], size + 1) if phi.labels == "sign" else bound * rng.uniform(-1, 1, size + 1)
    if draw(st.booleans()):
        X[0] /= np.linalg.norm(X[0])
        X[size], y[size] = -X[0], y[0]
    first = Problem(X[:size], y[:size], phi, l2=draw(l2), label_bound=bound)
    return first, first.replace(0, X[size], y[size])


either = st.one_of(neighbours(), neighbours(l2=regularisers))


def worst_pair(l2: float = 0.0, d: int = 1) -> tuple[Problem, Problem]:
    """The solver's own pair, with a regulariser, in more dimensions."""
    X, y = np.zeros((2, d)), np.array([FAR, FAR])
    X[0, 0] = 1.0
    first = Problem(X, y, Huber(1.0), l2=l2, label_bound=FAR)
    return first, first.replace(0, X[0], -FAR)


def bound_of(claim: Claim, problem: Problem, eta: float, steps: int, **changed: float) -> float:
    """The claim's right-hand side for this problem."""
    values = {"n": problem.n, "T": steps, "eta": eta, "L": pull(problem, eta, steps), "beta": problem.smoothness}
    values |= {"mu": problem.strong_convexity} | changed
    return float(claim.evaluate(**{str(s): values[str(s)] for s in claim.symbols if str(s) in values}))


def natural_step(problem: Problem) -> float:
    return 1 / (problem.smoothness + problem.strong_convexity)


def divergence(pair: tuple[Problem, Problem], eta: float, steps: int) -> float:
    ends = [descend(p, eta, steps)[-1] for p in pair]
    return float(np.linalg.norm(ends[0] - ends[1]))
