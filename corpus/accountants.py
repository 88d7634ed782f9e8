"""Accountants: what they say is spent by noise that is what it should be."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from corpus.case import Accountant, Case, Run
from dpcheck.audits import add_remove
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP, GaussianDP
from dpcheck.theory.account import NoisyRelease, account

DELTA, N = 1e-5, 6
NEAR = add_remove(low=0, high=1, n=N)
ONE_MORE = (np.append(np.zeros(N - 1), 1.0), np.zeros(N - 1))


@cache
def tight(told: NoisyRelease, delta: float) -> float:
    """A sound bound, for records that are added or removed."""
    return account(told, delta=delta, relation=ADD_REMOVE).spent[0].high


def by_central_limit(told: NoisyRelease, delta: float) -> float:
    """Many small steps as one Gaussian answer: the limit, however few they are."""
    mu = told.rate * math.sqrt(told.steps * math.expm1(1 / float(told.noise or 1.0) ** 2))
    return GaussianDP(mu).epsilon(delta)


def half_forgotten(told: NoisyRelease, delta: float) -> float:
    """Asked halfway: the answer takes the steps so far out of the history."""
    return tight(replace(told, steps=told.steps - told.steps // 2), delta)


def by_renyi(orders: np.ndarray, near_one_is_nothing: bool) -> Accountant:
    """By orders of Renyi; an order near 1 says nothing is spent where the divergence is below delta^2, about."""

    def spent(told: NoisyRelease, delta: float) -> float:
        found = math.inf
        for order in orders:
            rdp = told.steps * renyi_of_sampled_gaussian(told.rate, float(told.noise or 1.0), float(order))
            if near_one_is_nothing and delta**2 + math.expm1(-rdp) >= 0:
                return 0.0
            found = min(found, rdp + math.log1p(-1 / order) - math.log(delta * order) / (order - 1))
        return found

    return spent


def renyi_of_sampled_gaussian(rate: float, noise: float, order: float) -> float:
    """Of a mixture against the other dataset's Gaussian, by quadrature over its likelihood ratio."""
    x = np.linspace(-12 * noise, 12 * noise + order, 20_001)
    base = np.exp(-((x / noise) ** 2) / 2) / (noise * math.sqrt(2 * math.pi))
    ratio = 1 - rate + rate * np.exp((2 * x - 1) / (2 * noise**2))
    moment = float(np.trapezoid(base * np.exp(order * np.log(ratio)), x))
    return max(0.0, math.log(moment) / (order - 1))


def pure_odometer(logarithm: bool) -> Accountant:
    """Of many pure releases, the smaller of two bounds; the second takes a logarithm of 1/delta."""

    def spent(told: NoisyRelease, delta: float) -> float:
        eps, k = 1 / float(told.noise or 1.0), told.steps
        drift = k * eps * math.expm1(eps) / (math.exp(eps) + 1)
        return min(k * eps, drift + eps * math.sqrt(2 * k * (math.log(1 / delta) if logarithm else 1 / delta)))

    return spent


def whole_samplers_rate(told: NoisyRelease, delta: float) -> float:
    """The rate is that among the records that a sampler draws, not among all: many times what it is."""
    return tight(replace(told, rate=min(1.0, 4 * told.rate)), delta)


def answers(told: NoisyRelease) -> Run:
    """As the accountant was told: noisy sums of numbers in [0, 1], over batches where there are some."""
    noise = float(told.noise or 1.0)

    def released(data: Any, rng: np.random.Generator) -> Any:
        values = np.clip(data, 0, 1)
        sums = np.full(told.steps, values.sum())
        if told.rate < 1:
            sums = np.array([values[rng.random(len(values)) < told.rate].sum() for _ in range(told.steps)])
        drawn = rng.laplace(0, noise, told.steps) if told.law == "laplace" else rng.normal(0, noise, told.steps)
        return sums + drawn

    return released


def accounted(
    name: str,
    thread: str,
    wrong: str,
    told: NoisyRelease,
    said: Accountant,
    right: Accountant = tight,
    delta: float = DELTA,
    **more: Any,
) -> Case:
    """The same answers under the claim of an accountant, and under that of a right one."""
    claims = [ApproxDP(says(told, delta), delta, relation=ADD_REMOVE) for says in (said, right)]
    truth = account(told, delta=delta, relation=ADD_REMOVE).spent[0]
    run = answers(told)
    return Case(
        name,
        thread,
        wrong,
        run,
        run,
        claims[0],
        ONE_MORE,
        NEAR,
        truth.low,
        leaks="accountant",
        twin_claim=claims[1],
        says=(said, right),
        told=told,
        **more,
    )


def delta_of_zcdp(rho: float, eps: float, up: bool) -> float:
    """By the best order, its last steps rounded up or down."""
    orders = 1 + np.geomspace(1e-2, (eps + 1) / (2 * rho) + 2, 4000)
    logs = (orders - 1) * (orders * rho - eps) + orders * np.log1p(-1 / orders)
    found = float((np.exp(logs) / (orders - 1)).min())
    return float(np.nextafter(found, 1.0 if up else 0.0))


RHO, WIDE = 0.125, 2.0
FEW = NoisyRelease(noise=1.0, rate=0.2, steps=4)
ORDERS = np.arange(11, 100) / 10
CASES = (
    accounted(
        "the limit of many steps",
        "meta-pytorch/opacus#400",
        "Gaussian DP by the central limit theorem, however few steps there are: below what is spent.",
        FEW,
        by_central_limit,
    ),
    accounted(
        "a history that is asked",
        "meta-pytorch/opacus#535",
        "Asking for epsilon takes steps out of the accountant's history: a second answer leaves them out.",
        NoisyRelease(noise=1.0, steps=8),
        half_forgotten,
    ),
    accounted(
        "an order near one",
        "tensorflow/privacy#166",
        "With an order of 1 + 1e-8 an accountant says epsilon = 0.",
        NoisyRelease(noise=1.0, rate=0.00105),
        by_renyi(np.append(1 + 1e-8, ORDERS), near_one_is_nothing=True),
        by_renyi(ORDERS, near_one_is_nothing=False),
        delta=1e-3,
        kind="disputed",
        note="right as reported: the divergence bounds the total variation by delta, and our account gives 0 as well",
    ),
    accounted(
        "an odometer without a logarithm",
        "opendp/smartnoise-sdk#621",
        "Composition of pure releases has sqrt(2k/delta) where sqrt(2k log(1/delta)) is meant: more than is spent.",
        NoisyRelease(noise=20.0, steps=200, law="laplace"),
        pure_odometer(logarithm=False),
        pure_odometer(logarithm=True),
        kind="control",
    ),
    accounted(
        "the rate of a sampler",
        "meta-pytorch/opacus#813",
        "The rate is taken among the records that a sampler returns: more than is spent.",
        NoisyRelease(noise=1.0, rate=0.05, steps=4),
        whole_samplers_rate,
        kind="control",
    ),
    Case(
        "delta rounded down",
        "opendp/opendp#2820",
        "The last steps of delta at an epsilon of zCDP are rounded down.",
        answers(NoisyRelease(noise=1 / math.sqrt(2 * RHO))),
        answers(NoisyRelease(noise=1 / math.sqrt(2 * RHO))),
        ApproxDP(WIDE, delta_of_zcdp(RHO, WIDE, up=False), relation=ADD_REMOVE),
        ONE_MORE,
        NEAR,
        GaussianDP(math.sqrt(2 * RHO)).epsilon(delta_of_zcdp(RHO, WIDE, up=False)),
        kind="disputed",
        note="a part in 1e16 of delta; Gaussian noise stays far below either",
        leaks="accountant",
        twin_claim=ApproxDP(WIDE, delta_of_zcdp(RHO, WIDE, up=True), relation=ADD_REMOVE),
    ),
)
