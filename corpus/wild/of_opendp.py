"""OpenDP's measurements, under the loss that their own privacy map states. Replay cannot hear its draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import opendp.prelude as odp

from corpus.wild.subject import Subject
from dpcheck.adapters import opendp

odp.enable_features("contrib", "floating-point", "honest-but-curious")
NUMBER = odp.atom_domain(T=float, nan=False), odp.absolute_distance(T=float)
WHOLE = odp.atom_domain(T=int), odp.absolute_distance(T=int)
VECTOR = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.l2_distance(T=float)
WHOLES = odp.vector_domain(odp.atom_domain(T=int)), odp.l1_distance(T=int)
SCORES = odp.vector_domain(odp.atom_domain(T=int)), odp.linf_distance(T=int)
RECORDS = odp.vector_domain(odp.atom_domain(bounds=(0.0, 1.0), nan=False)), odp.symmetric_distance()
SIZED = odp.vector_domain(odp.atom_domain(bounds=(0.0, 1.0), nan=False), size=5), odp.symmetric_distance()
COUNTED = (np.array([1.0, 0.0, 0.0]), np.zeros(2))


def measured(
    name: str, make: Callable[[], Any], pair: tuple[Any, Any], d_in: Any = 1, delta: float | None = None
) -> Subject:
    """Under the loss that the privacy map states for inputs at distance `d_in`."""
    made = make()
    claim = opendp.measurement(made).guarantee(d_in, delta)
    return Subject(name, lambda: opendp.measurement(made), claim, pair, trials=10_000)


SUBJECTS = (
    measured("make_laplace, floats", lambda: odp.m.make_laplace(*NUMBER, scale=1.0), (0.0, 1.0), 1.0),
    measured("make_laplace, whole numbers", lambda: odp.m.make_laplace(*WHOLE, scale=1.0), (0, 1)),
    measured("make_laplace, vectors", lambda: odp.m.make_laplace(*WHOLES, scale=1.0), ([0, 0], [1, 0])),
    measured("make_geometric", lambda: odp.m.make_geometric(*WHOLE, scale=1.0), (0, 1)),
    measured("make_geometric, bounded", lambda: odp.m.make_geometric(*WHOLE, scale=1.0, bounds=(0, 2)), (0, 1)),
    measured("make_gaussian, floats", lambda: odp.m.make_gaussian(*NUMBER, scale=1.0), (0.0, 1.0), 1.0),
    measured("make_gaussian, whole numbers", lambda: odp.m.make_gaussian(*WHOLE, scale=1.0), (0, 1)),
    measured("make_gaussian, vectors", lambda: odp.m.make_gaussian(*VECTOR, scale=1.0), ([0.0, 0.0], [0.6, 0.8]), 1.0),
    measured(
        "make_zCDP_to_approxDP",
        lambda: odp.c.make_zCDP_to_approxDP(odp.m.make_gaussian(*NUMBER, scale=1.0)),
        (0.0, 1.0),
        1.0,
        1e-3,
    ),
    measured("make_canonical_noise", lambda: odp.m.make_canonical_noise(*NUMBER, 1.0, (1.0, 1e-3)), (0.0, 1.0), 1.0),
    measured("make_randomized_response_bool", lambda: odp.m.make_randomized_response_bool(prob=0.75), (False, True)),
    measured(
        "make_randomized_response",
        lambda: odp.m.make_randomized_response(categories=["a", "b", "c"], prob=0.6),
        ("a", "b"),
    ),
    measured(
        "make_noisy_max",
        lambda: odp.m.make_noisy_max(*SCORES, odp.max_divergence(), scale=1.0),
        ([2, 1, 1], [1, 2, 2]),
    ),
    measured(
        "make_noisy_max, zCDP",
        lambda: odp.m.make_noisy_max(*SCORES, odp.zero_concentrated_divergence(), scale=1.0),
        ([2, 1, 1], [1, 2, 2]),
    ),
    measured(
        "make_noisy_top_k",
        lambda: odp.m.make_noisy_top_k(*SCORES, odp.max_divergence(), k=2, scale=1.0),
        ([2, 1, 1], [1, 2, 2]),
    ),
    measured(
        "make_report_noisy_max_gumbel",
        lambda: odp.m.make_report_noisy_max_gumbel(*SCORES, scale=1.0),
        ([2, 1, 1], [1, 2, 2]),
    ),
    measured("make_sum, then Laplace", lambda: odp.t.make_sum(*RECORDS) >> odp.m.then_laplace(scale=1.0), COUNTED),
    measured(
        "make_mean of a known size, then Laplace",
        lambda: odp.t.make_mean(*SIZED) >> odp.m.then_laplace(scale=0.2),
        (np.zeros(5), np.array([1.0, 0, 0, 0, 0])),
        2,
    ),
    measured(
        "make_variance of a known size, then Laplace",
        lambda: odp.t.make_variance(*SIZED) >> odp.m.then_laplace(scale=0.2),
        (np.zeros(5), np.array([1.0, 0, 0, 0, 0])),
        2,
    ),
    measured(
        "make_count, then geometric", lambda: odp.t.make_count(*RECORDS) >> odp.m.then_geometric(scale=1.0), COUNTED
    ),
    measured(
        "make_private_quantile",
        lambda: odp.m.make_private_quantile(
            *RECORDS, odp.max_divergence(), candidates=[0.0, 0.25, 0.5, 0.75, 1.0], alpha=0.5, scale=1.0
        ),
        COUNTED,
    ),
    measured(
        "make_sequential_composition of two",
        lambda: odp.c.make_composition([odp.m.make_laplace(*NUMBER, scale=2.0)] * 2),
        (0.0, 1.0),
        1.0,
    ),
)
