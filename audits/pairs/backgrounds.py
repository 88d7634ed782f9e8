"""Random backgrounds: the records that do not change, in as many shapes as data have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpcheck.audits.pairs.domains import Domain, Record

MOST_DRAWN = 256  # different records in a background: large ones repeat them
INDEPENDENT = 0.5  # of all backgrounds: data come that way, and it reaches every dataset


def random_background(domain: Domain, size: int, rng: np.random.Generator) -> list[Record]:
    """Records of the domain: independent ones, or in one of the other shapes.

    >>> len(random_background(Domain(), 5, np.random.default_rng(0)))
    5
    """
    if size == 0:
        return []
    shape = independent if rng.random() < INDEPENDENT else SHAPES[rng.integers(len(SHAPES))]
    return shape(domain, size, rng)


def independent(domain: Domain, size: int, rng: np.random.Generator) -> list[Record]:
    """Each from the whole domain: from its inside, from its edges, or from both."""
    edge = float(rng.choice([0.0, 0.5, 1.0]))
    return _repeated([domain.random(rng, edge) for _ in range(min(size, MOST_DRAWN))], size, rng)


def few_values(domain: Domain, size: int, rng: np.random.Generator) -> list[Record]:
    """One to three values, each for any share of the records."""
    pool = [domain.random(rng) for _ in range(int(rng.integers(1, 4)))]
    return [pool[i] for i in rng.choice(len(pool), size, p=rng.dirichlet(np.ones(len(pool))))]


def clustered(domain: Domain, size: int, rng: np.random.Generator) -> list[Record]:
    """All close to one record."""
    centre, width = domain.random(rng), float(rng.choice([0.01, 0.1, 0.3]))
    return _repeated([domain.close(centre, rng, width) for _ in range(min(size, MOST_DRAWN))], size, rng)


def ordered(domain: Domain, size: int, rng: np.random.Generator) -> list[Record]:
    """Independent ones, sorted."""
    return sorted(independent(domain, size, rng), key=domain.key)


def one_outlier(domain: Domain, size: int, rng: np.random.Generator) -> list[Record]:
    """All alike but one, anywhere."""
    found = [domain.random(rng)] * size
    found[rng.integers(size)] = domain.random(rng)
    return found


def _repeated(drawn: list[Record], size: int, rng: np.random.Generator) -> list[Record]:
    return drawn if len(drawn) == size else [drawn[i] for i in rng.integers(len(drawn), size=size)]


Shape = Callable[[Domain, int, np.random.Generator], list[Record]]
SHAPES: tuple[Shape, ...] = (few_values, clustered, ordered, one_outlier)
