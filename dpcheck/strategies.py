"""Hypothesis strategies: datasets, neighbouring pairs, guarantees, and mechanisms whose guarantee is known.

Examples shrink to few distinct records, at the corners of the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.audits.pairs.compound import Compound, WholeNumbers
from dpcheck.audits.pairs.domains import ORDERS, Ball, Domain
from dpcheck.audits.pairs.drawn_pairs import Examples, Pair
from dpcheck.audits.pairs.neighbours import Drawn, Neighbours, one_user, replace_one
from dpcheck.audits.pairs.query_answers import Answers
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.bounds.language.guarantees import (
    ADD_REMOVE,
    LABEL_ONLY,
    LOCAL,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    Relation,
    RenyiDP,
)

try:
    from hypothesis import assume
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as missing:
    raise MissingDependency("hypothesis", "dpcheck.strategies", "verify") from missing


@dataclass(frozen=True)
class Known:
    """A mechanism with the guarantee it has exactly: no smaller epsilon holds on `neighbours`.

    Call it as any mechanism: (data, rng, trials) -> outputs.
    """

    name: str
    release: Callable[[Any, np.random.Generator, int], np.ndarray]
    neighbours: Neighbours
    guarantee: Guarantee

    def __call__(self, data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        return self.release(data, rng, trials)

    def __repr__(self) -> str:
        return f"{self.name} with {self.guarantee}"


def datasets(
    low: float = 0.0,
    high: float = 1.0,
    n: int | tuple[int, int] = (1, 10),
    d: int | None = None,
    *,
    ball: Ball | None = None,
    values: Sequence[Any] | None = None,
) -> SearchStrategy[np.ndarray]:
    """Arrays of n records, (n,) or (n, d): numbers in [low, high], vectors in a box or ball, or given values.

    `n` is a number or (fewest, most).

    >>> datasets(low=0, high=1, n=3).validate()
    """
    domain = Domain(float(low), float(high), d, ball, None if values is None else tuple(values))
    fewest, most = n if isinstance(n, tuple) else (n, n)
    if not 0 <= fewest <= most:
        raise InvalidInput("n", n, "a number >= 0, or (fewest, most)", "Pass n=(1, 10) for example.")
    return st.lists(records(domain), min_size=fewest, max_size=most).map(domain.stack)


def neighbouring(neighbours: Any) -> SearchStrategy[Pair]:
    """Pairs of different datasets under the relation (a Neighbours, for example `replace_one(low=0, high=1, n=10)`).

    >>> neighbouring(replace_one(low=0, high=1, n=3)).validate()
    """
    if not isinstance(neighbours, Neighbours):
        remedy = "Pass replace_one(low=0, high=1, n=10) for example."
        raise InvalidInput("neighbours", neighbours, "a neighbouring relation", remedy)
    if isinstance(neighbours, Drawn):
        if isinstance(neighbours.source, Examples):
            return neighbours.source.strategy
        return st.integers(0, 2**32 - 1).map(lambda seed: neighbours.pairs(np.random.default_rng(seed), 1)[0])
    return _answers(neighbours) if isinstance(neighbours, Answers) else _pairs(neighbours)


def guarantees(relation: Relation = REPLACE_ONE) -> SearchStrategy[Guarantee]:
    """Guarantees of all five kinds, with numbers one meets in practice.

    >>> guarantees().validate()
    """
    eps, delta = st.floats(0.01, 10), st.floats(1e-10, 0.1)
    return st.one_of(
        st.builds(PureDP, eps, relation=st.just(relation)),
        st.builds(ApproxDP, eps, delta, relation=st.just(relation)),
        st.builds(ZCDP, st.floats(1e-4, 10), relation=st.just(relation)),
        st.builds(GaussianDP, st.floats(0.01, 5), relation=st.just(relation)),
        st.builds(RenyiDP, st.floats(1.1, 64), eps, relation=st.just(relation)),
    )


def mechanisms(epsilon: SearchStrategy[float] | None = None) -> SearchStrategy[Known]:
    """Private mechanisms with their exact guarantee: noisy sums (Laplace, Gaussian, discrete), randomised response,
    the exponential mechanism. `epsilon` draws their parameter.

    >>> mechanisms().validate()
    """
    eps = st.floats(0.1, 3) if epsilon is None else epsilon
    made = (laplace_sum, gaussian_sum, geometric_count, randomised_response, exponential_vote)
    return st.sampled_from(made).flatmap(lambda make: st.builds(make, eps))


def records(domain: Domain) -> SearchStrategy[Any]:
    """One record of a domain, corners first."""
    corners = st.sampled_from(domain.corners())
    if domain.values is not None:
        return corners
    if isinstance(domain, Compound):
        return corners | st.tuples(*(records(part) for part in domain.parts))
    if isinstance(domain, WholeNumbers):
        return corners | st.integers(int(domain.low), int(domain.high))
    if domain.d is None:
        return corners | st.floats(domain.low, domain.high)
    low = -domain.high if domain.ball else domain.low
    row = st.lists(st.floats(low, domain.high), min_size=domain.d, max_size=domain.d).map(np.array)
    return corners | (row if domain.ball is None else row.map(lambda vector: _inside(vector, domain)))


@st.composite
def _pairs(draw: Any, near: Neighbours) -> Pair:
    """Common records, then what changes."""
    k, name = near.relation.size, near.relation.name
    record = records(near.domain)
    if name == LABEL_ONLY.name:
        labelled = st.tuples(record, st.sampled_from(near.labels))
        old = [draw(labelled) for _ in range(k)]
        new = [(row, draw(_other(st.sampled_from(near.labels), label))) for row, label in old]
        return near.build(draw(st.lists(labelled, min_size=near.least - k, max_size=near.n - k)), old, new)
    old = [draw(record) for _ in range(k)]
    new = old if name == ADD_REMOVE.name else [draw(_other(record, value)) for value in old]
    return near.build(draw(st.lists(record, min_size=near.least - k, max_size=near.n - k)), old, new)


@st.composite
def _answers(draw: Any, near: Answers) -> Pair:
    """Answers, then who moves which way."""
    ways = st.sampled_from([0.0, 1.0, -1.0, 0.5, -0.5])
    shape = draw(st.lists(ways, min_size=near.domain.d or 1, max_size=near.domain.d).filter(any).map(np.array))
    pair = near.moved(draw(records(near.domain)), near.step(shape))
    assume(not np.array_equal(*pair))
    return pair


def _other(strategy: SearchStrategy[Any], value: Any) -> SearchStrategy[Any]:
    return strategy.filter(lambda drawn: not np.array_equal(drawn, value))


def _inside(row: np.ndarray, domain: Domain) -> np.ndarray:
    assert domain.ball is not None
    size = float(np.linalg.norm(row, ORDERS[domain.ball]))
    return row if size <= domain.high else row * (domain.high / size)


# Mechanisms of known privacy -----------------------------------------------------------------------
def laplace_sum(eps: float) -> Known:
    """A sum of records in [0, 1] with Laplace(1 / eps) noise: pure DP, tight at every pair of distance 1."""
    return Known(
        "laplace_sum",
        lambda data, rng, trials: np.sum(data) + rng.laplace(scale=1 / eps, size=trials),
        replace_one(low=0, high=1, n=5),
        PureDP(eps),
    )


def gaussian_sum(mu: float) -> Known:
    """A sum of vectors in the unit l2 ball with Gaussian noise of deviation 2 / mu: mu-Gaussian DP."""
    return Known(
        "gaussian_sum",
        lambda data, rng, trials: data.sum(axis=0) + rng.normal(scale=2 / mu, size=(trials, 2)),
        replace_one(high=1, n=3, d=2, ball="l2"),
        GaussianDP(mu),
    )


def geometric_count(eps: float) -> Known:
    """A count with two-sided geometric noise (Ghosh, Roughgarden, Sundararajan 2012): pure DP, discrete outputs."""

    def release(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        p = -np.expm1(-eps)
        return int(np.sum(data)) + rng.geometric(p, trials) - rng.geometric(p, trials)

    return Known("geometric_count", release, replace_one(n=5, values=(0, 1)), PureDP(eps))


def randomised_response(eps: float) -> Known:
    """A bit told truthfully with probability e^eps / (1 + e^eps) (Warner 1965): local pure DP."""

    def release(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        return np.where(rng.random(trials) < 1 / (1 + np.exp(-eps)), int(data), 1 - int(data))

    return Known("randomised_response", release, one_user(values=(0, 1)), PureDP(eps, relation=LOCAL))


def exponential_vote(eps: float) -> Known:
    """The exponential mechanism between two candidates (McSherry, Talwar 2007), weights exp(eps * votes / 2).

    One vote moves the log odds by eps; of five votes the most telling is the first for the loser.
    """

    def release(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
        difference = 2 * int(np.sum(data)) - len(data)
        return (rng.random(trials) < 1 / (1 + np.exp(-eps * difference / 2))).astype(int)

    exact = float(np.log1p(np.exp(5 * eps / 2)) - np.log1p(np.exp(3 * eps / 2)))
    return Known("exponential_vote", release, replace_one(n=5, values=(0, 1)), PureDP(exact))
