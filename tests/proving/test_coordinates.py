"""Sums of what is never negative: the check proves what adds up, and nothing else."""

from __future__ import annotations

import pytest
from sympy import Le, symbols

from dpcheck.bounds.language.claim import Claim, Effort, Kind, Source, Verdict
from dpcheck.bounds.language.symbols import D, w_hat
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Slack, Step
from dpcheck.bounds.proving.one_coordinate import Adds
from dpcheck.bounds.registry import library

a, b = symbols("a b", real=True)


def verdict(check: Adds, factor: int = 1) -> Verdict:
    claim = Claim("zhang17.example.triangle", Source("zhang17", "here"), Kind.UTILITY, ".", Le(D, factor * w_hat))
    return check.run(claim, Effort()).verdict


def test_an_identity_is_proved() -> None:
    square = Adds(2 * a * b, {w_hat: a**2 + b**2}, {"a square": (a - b) ** 2})
    assert verdict(square) is Verdict.PROVED


@pytest.mark.parametrize(
    "wrong",
    [
        Adds(2 * a * b, {w_hat: a**2 + b**2}, {"too much": (a - b) ** 2 + 1}),
        Adds(2 * a * b, {w_hat: a**2 + b**2}),
        Adds(3 * a * b, {w_hat: a**2 + b**2}, {"a square": (a - b) ** 2}),
    ],
)
def test_what_does_not_add_up_is_a_gap(wrong: Adds) -> None:
    assert verdict(wrong) is Verdict.UNCHECKED


def test_the_claims_own_side_is_used() -> None:
    """The same parts prove nothing about another right-hand side."""
    square = Adds(2 * a * b, {w_hat: a**2 + b**2}, {"a square": (a - b) ** 2})
    assert verdict(square, factor=2) is Verdict.UNCHECKED


def test_squares() -> None:
    parts = {"a square": (a - b) ** 2}
    assert verdict(Adds(a - b, {w_hat: a + b}, {"four times the product": 4 * a * b}, squared=True)) is Verdict.PROVED
    assert verdict(Adds(a - b, {w_hat: a + b}, parts, squared=True)) is Verdict.UNCHECKED


@pytest.mark.parametrize("dropped", range(8))
def test_every_part_of_equation_3_37_is_needed(dropped: int) -> None:
    """Without any one of its eight reasons the proof of (3.37) does not add up."""
    claim = library["dwang20.equation3.37"]
    (chain,) = claim.checks
    assert chain.run(claim, Effort()).verdict is Verdict.PROVED
    parts = chain.steps[0].because.given
    fewer = {why: part for i, (why, part) in enumerate(parts.items()) if i != dropped}
    shorter = Chain(chain.start, Step("<=", STATEMENT, because=Slack(given=fewer)))
    assert shorter.run(claim, Effort()).verdict is Verdict.UNCHECKED
