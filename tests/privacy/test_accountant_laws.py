"""Accountants against laws that need no second accountant, and against two of another library.

Each law flags an accountant with a bug planted for it, by the same test; our bounds are from both sides, so that a law
is broken only if the answers contradict each other, whatever the accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcheck as dp
from corpus.accountant_laws import (
    DELTAS,
    LAWS,
    MOST_STEPS,
    NOISE,
    RATES,
    TIMES,
    Account,
    Bounds,
    Drawn,
    Law,
    Part,
    Question,
)
from dpcheck.bounds.language.guarantees import ADD_REMOVE

GRID = 1e-3  # of their loss distributions, which rounds losses up


@cache
def ours(question: Question) -> Bounds:
    """dp.account."""
    releases = [dp.NoisyRelease(noise=part.noise, rate=part.rate, steps=part.steps) for part in question.parts]
    (spent,) = dp.account(*releases, delta=question.delta, relation=ADD_REMOVE).spent
    return spent.low, spent.high


def their_event(question: Question) -> dp_event.DpEvent:
    return dp_event.ComposedDpEvent(
        [
            dp_event.SelfComposedDpEvent(
                dp_event.PoissonSampledDpEvent(part.rate, dp_event.GaussianDpEvent(part.noise)), part.steps
            )
            for part in question.parts
        ]
    )


@cache
def by_losses(question: Question) -> Bounds:
    """dp-accounting's loss distributions: a bound from above."""
    made = pld_privacy_accountant.PLDAccountant(value_discretization_interval=GRID)
    found = float(made.compose(their_event(question)).get_epsilon(question.delta))
    return found, found


@cache
def by_moments(question: Question) -> Bounds:
    """dp-accounting's Rényi divergences: a bound from above."""
    found = float(rdp_privacy_accountant.RdpAccountant().compose(their_event(question)).get_epsilon(question.delta))
    return found, found


def logarithms(ends: tuple[float, float]) -> st.SearchStrategy[float]:
    return st.floats(*np.log(ends)).map(math.exp)


parts = st.builds(Part, logarithms(NOISE), logarithms(RATES), st.integers(1, MOST_STEPS))
settings_drawn = st.builds(Drawn, parts, parts, logarithms(DELTAS), logarithms(TIMES))
few = settings(max_examples=8, deadline=None)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_our_accountant_keeps_the_law(law: Law) -> None:
    @few
    @given(settings_drawn)
    def run(drawn: Drawn) -> None:
        assert law.broken(ours, drawn) == ""

    run()


# One for each law, in its order: what an accountant might get wrong, done to the answers of ours.
def asked_as(change: Callable[[Question], Question]) -> Account:
    return lambda question: ours(change(question))


def in_all(change: Callable[[Part], Part]) -> Account:
    return asked_as(lambda question: replace(question, parts=tuple(map(change, question.parts))))


PLANTED: dict[str, Account] = {
    "more noise loses no more": in_all(lambda part: replace(part, noise=1 / part.noise + 0.5)),
    "a larger delta has no larger epsilon": asked_as(lambda q: replace(q, delta=1e-11 / q.delta)),
    "fewer steps lose no more": in_all(lambda part: replace(part, steps=1 + MOST_STEPS // part.steps)),
    "smaller batches lose no more": in_all(lambda part: replace(part, rate=min(1.0, 1e-3 / part.rate))),
    "one release less loses no more": asked_as(lambda q: replace(q, parts=q.parts[1:] or q.parts)),
    "the order is of no account": asked_as(lambda q: replace(q, parts=q.parts[:1])),
    "steps may be split": asked_as(lambda q: replace(q, parts=q.parts[:1])),
    "t sums of all records are one with noise over the root of t": in_all(
        lambda part: replace(part, steps=1 + part.steps)
    ),
    "one sum of all records has its closed form": in_all(lambda part: replace(part, noise=1.01 * part.noise)),
    "a sampled step loses no more than one of all records": in_all(
        lambda part: replace(part, noise=part.noise * math.sqrt(part.rate))
    ),
    "much noise leaves nothing": in_all(lambda part: replace(part, noise=min(part.noise, 8.0))),
}


def test_every_law_has_a_bug() -> None:
    assert [*PLANTED] == [law.name for law in LAWS]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_law_flags_a_planted_bug(law: Law) -> None:
    account = PLANTED[law.name]
    drawn = Drawn(Part(1.0, 0.2, 20), Part(2.0, 0.05, 30), 1e-5, 2.0)
    smaller = replace(drawn, one=Part(4.0, 0.5, 3), other=Part(0.7, 0.3, 200))
    assert any(law.broken(account, each) for each in (drawn, smaller))
    assert not any(law.broken(ours, each) for each in (drawn, smaller))


def compared(question: Question) -> str:
    """In words where the others contradict us: bounds from above lie above ours from below, losses are close to it."""
    low, high = ours(question)
    losses, moments = by_losses(question)[1], by_moments(question)[1]
    if min(losses, moments) < low * (1 - 1e-6):
        return f"{losses:.6g} and {moments:.6g} are below {low:.6g}"
    rounded = GRID * sum(part.steps for part in question.parts) + 0.01 * losses
    if abs(high - losses) > rounded or high > 1.001 * moments + 1e-9:
        return f"{high:.6g} is not {losses:.6g}, or above {moments:.6g}"
    return ""


@few
@given(settings_drawn)
def test_ours_lies_below_two_others(drawn: Drawn) -> None:
    assert compared(Question((drawn.one, drawn.other), drawn.delta)) == ""


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_comparison_flags_other_noise(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    question = Question((Part(1.0, 0.2, 20),), 1e-5)
    assert compared(question) == ""
    wrong = in_all(lambda part: replace(part, noise=factor * part.noise))
    answer = wrong(question)
    monkeypatch.setitem(globals(), "ours", lambda _: answer)
    assert compared(question) != ""
