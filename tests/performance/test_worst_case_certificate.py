"""Certificates prove what they say without the solver, and nothing that is false."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.performance.certificate import Certificate, NotCertified
from dpcheck.bounds.performance.methods import FirstOrderMethod
from dpcheck.bounds.performance.program import ConvexClass, Inequality, Objective, Program
from dpcheck.bounds.performance.rate import rate
from dpcheck.bounds.performance.sensitivity import NeighbouringObjectives, aligned, exhaustive
from dpcheck.bounds.performance.solve import SolvedProgram, solve
from dpcheck.bounds.performance.worst_case import convergence_rate, sensitivity


def programs() -> dict[str, Program]:
    convex, strong = (
        NeighbouringObjectives.of(10, 0.9, 0, False, False, False),
        NeighbouringObjectives.of(5, 0.9, 0.2, False, True, False),
    )
    return {
        "sensitivity": aligned(FirstOrderMethod("projected", 4, 1.0), convex),
        "all pairs": exhaustive(FirstOrderMethod("gradient", 3, 1.0), strong),
        "value": rate(FirstOrderMethod("proximal", 3, 1.0), ConvexClass(1.0), "value"),
        "best gradient": rate(FirstOrderMethod("accelerated", 4, 1.0), ConvexClass(1.0, 0.1), "best_gradient"),
        "subgradients": rate(FirstOrderMethod("gradient", 3, 0.4), ConvexClass(), "best_value", 1.0),
    }


@cache
def solved(name: str) -> SolvedProgram:
    return solve(programs()[name], name)


NAMES = sorted(programs())


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_read_from_text_proves_the_same(name: str) -> None:
    here = solved(name).certificate
    again = Certificate.from_json(here.to_json())
    assert again.check() == here.check()
    assert here.check().bound == solved(name).upper
    assert again.about == name


@pytest.mark.parametrize("name", NAMES)
def test_upper_and_lower_meet(name: str) -> None:
    found = solved(name)
    assert found.lower <= found.upper * (1 + 1e-8)
    assert found.lower == pytest.approx(found.upper, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_corrupted_certificate_is_caught(name: str) -> None:
    """Planted: the multiplier that matters most is off by a thousandth, as if the solver had stopped early."""
    here = solved(name).certificate
    m = list(here.multipliers)
    worst = max(range(len(m)), key=lambda i: m[i] * (here.constraints[i].right or 1.0))
    m[worst] *= 0.999
    with pytest.raises(NotCertified, match="a proof needs"):
        replace(here, multipliers=tuple(m)).check()


@pytest.mark.parametrize("slip", [-1e-9, math.nan, math.inf])
def test_bad_multipliers_are_caught(slip: float) -> None:
    here = solved("sensitivity").certificate
    with pytest.raises(NotCertified, match="multiplier"):
        replace(here, multipliers=(slip, *here.multipliers[1:])).check()


def test_function_values_must_cancel_exactly() -> None:
    """Planted: one part in 1e15 of one multiplier."""
    here = solved("value").certificate
    at = next(i for i, c in enumerate(here.constraints) if c.balance and here.multipliers[i] > 0.1)
    m = list(here.multipliers)
    m[at] = math.nextafter(math.nextafter(m[at], math.inf), math.inf)
    assert replace(here, multipliers=tuple(m)).imbalance() > 0
    with pytest.raises(NotCertified, match="exactly 0"):
        replace(here, multipliers=tuple(m)).check()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.lists(st.floats(0.2, 5.0), min_size=1, max_size=4), st.integers(0, 10**6))
def test_whatever_is_accepted_is_true(name: str, factors: list[float], seed: int) -> None:
    """Soundness: multipliers changed at will either fail the check or prove a bound above what is attained."""
    found = solved(name)
    here = found.certificate
    m = np.array(here.multipliers)
    at = np.random.default_rng(seed).choice(len(m), size=min(len(factors), len(m)), replace=False)
    m[at] *= np.array(factors)[: len(at)]
    try:
        proved = replace(here, multipliers=tuple(m)).check().bound
    except NotCertified:
        return
    assert proved >= found.lower * (1 - 1e-9)


def test_a_program_without_a_bound_has_no_certificate() -> None:
    free = Program(np.eye(1), 0, (Inequality("norm", (0,), bound=1.0),), Objective(0), (True,), (0,), ((0,),), ())
    loose = Certificate(free.vectors, 0, free.constraints, (0.5,), Objective(0), "half of what is needed")
    with pytest.raises(NotCertified, match="margin of S"):
        loose.check()
    assert solve(free, "a vector").upper == pytest.approx(1.0, rel=1e-8)


def test_the_text_is_plain_json() -> None:
    raw = json.loads(sensitivity(n=3, steps=2, step_size=1.0, smoothness=1.0, lipschitz=1.0).certificate.to_json())
    assert set(raw) == {"about", "vectors", "values", "objective", "constraints", "multipliers"}


# The inequalities hold for functions of the class ------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(st.floats(0.0, 0.9), st.integers(0, 10**6), st.sampled_from(["gradient", "accelerated", "heavy_ball"]))
def test_quadratics_keep_every_inequality(mu: float, seed: int, name: str) -> None:
    """The Gram matrix of an actual run on an actual function violates nothing, and stays below the bound."""
    rng = np.random.default_rng(seed)
    method = FirstOrderMethod(name, 4, 1.0)  # type: ignore[arg-type]
    curvature = rng.uniform(mu, 1.0, 3)
    start = rng.normal(size=3)
    start /= np.linalg.norm(start)
    basis = [start]

    def gradient(_: int, w: np.ndarray) -> np.ndarray:
        basis.append(curvature * w)
        return basis[-1]

    points = method.walk(start, gradient)
    gradient(4, points[-1])
    U = np.array(basis)
    program = rate(method, ConvexClass(1.0, mu), "value")
    where = program.vectors @ U
    values = np.zeros(program.values)
    for c in program.constraints:
        if c.kind == "interpolation":
            for x, value in zip(c.vectors[::2], c.values, strict=True):
                if value >= 0:
                    values[value] = curvature @ where[x] ** 2 / 2
    assert np.max(program.excess(U @ U.T, values)) < 1e-9
    bound = convergence_rate(name, steps=4, step_size=1.0, smoothness=1.0).value  # type: ignore[arg-type]
    assert program.reached(U @ U.T, values) <= bound
