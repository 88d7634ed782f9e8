"""`dpcheck account` and `dp.account`: against dp-accounting and closed forms, backwards, and with planted slips."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace
from typing import Any

import pytest
from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ADD_REMOVE, LOCAL, REPLACE_ONE, Relation
from dpcheck.cli.main import main
from dpcheck.theory import account as accounting
from dpcheck.theory.account import NoisyRelease, account, outwards

NEIGHBOURS = privacy_accountant.NeighboringRelation
TO_THEIRS = {ADD_REMOVE: NEIGHBOURS.ADD_OR_REMOVE_ONE, REPLACE_ONE: NEIGHBOURS.REPLACE_ONE}
SGD = {"noise": 1.1, "rate": 0.01, "steps": 1000}


def event_of(answers: NoisyRelease) -> dp_event.DpEvent:
    """The same release in dp-accounting's words."""
    law = dp_event.GaussianDpEvent if answers.law == "gaussian" else dp_event.LaplaceDpEvent
    one = law(answers.noise)
    drawn = one if answers.rate == 1 else dp_event.PoissonSampledDpEvent(answers.rate, one)
    return dp_event.SelfComposedDpEvent(drawn, answers.steps)


def theirs(answers: tuple[NoisyRelease, ...], delta: float, relation: Relation) -> float:
    """dp-accounting's upper bound, by loss distributions."""
    found = pld_privacy_accountant.PLDAccountant(TO_THEIRS[relation], value_discretization_interval=1e-4)
    for one in answers:
        found.compose(event_of(one))
    return float(found.get_epsilon(delta))


GAUSSIAN = [(NoisyRelease(**SGD),), (NoisyRelease(0.8, 0.05, 50),), (NoisyRelease(3.0, steps=4), NoisyRelease(**SGD))]
WITH_LAPLACE = [
    (NoisyRelease(10.0, steps=20, law="laplace"),),
    (NoisyRelease(20.0, steps=10, law="laplace"), NoisyRelease(1.1, 0.02, 100), NoisyRelease(4.0)),
]


@pytest.mark.parametrize(
    ("answers", "relation"),
    [
        *((answers, relation) for answers in GAUSSIAN for relation in TO_THEIRS),
        *((answers, ADD_REMOVE) for answers in WITH_LAPLACE),  # dp-accounting has no Laplace noise under replace-one
    ],
)
def test_dp_accounting_agrees_and_is_never_below(answers: tuple[NoisyRelease, ...], relation: Relation) -> None:
    found = account(*answers, delta=1e-5, relation=relation).under(relation)
    upper = theirs(answers, 1e-5, relation)
    assert found.low <= upper * (1 + 1e-6)
    assert found.high == pytest.approx(upper, rel=5e-3)
    assert found.high <= found.low * 1.01


def test_a_record_replaced_moves_twice_as_far() -> None:
    """Without sampling, replace-one is add/remove with half the noise; with it, at most that of two records."""
    whole = account(noise=3.0, steps=4, delta=1e-5)
    half = account(noise=1.5, steps=4, delta=1e-5, relation=ADD_REMOVE)
    assert whole.under(REPLACE_ONE).high == pytest.approx(half.under(ADD_REMOVE).high, rel=1e-6)
    assert whole.under(REPLACE_ONE).high > whole.under(ADD_REMOVE).high
    sampled = account(**SGD, delta=1e-5)
    assert sampled.under(ADD_REMOVE).high < sampled.under(REPLACE_ONE).low < 2 * sampled.under(ADD_REMOVE).high


def test_fixed_batches_are_below_renyi_accounting() -> None:
    found = account(noise=4.0, rate=0.1, steps=50, sampling="fixed", delta=1e-5)
    renyi = rdp_privacy_accountant.RdpAccountant(neighboring_relation=NEIGHBOURS.REPLACE_ONE)
    once = dp_event.SampledWithoutReplacementDpEvent(100, 10, dp_event.GaussianDpEvent(4.0 / 2))
    renyi.compose(dp_event.SelfComposedDpEvent(once, 50))
    assert [one.relation for one in found.spent] == [REPLACE_ONE]
    assert found.under(REPLACE_ONE).high <= renyi.get_epsilon(1e-5)
    assert "add/remove-one: batches of a fixed size have no account" in found.notes[0]


def test_laplace_noise_is_pure() -> None:
    found = account(noise=20.0, law="laplace", steps=10, delta=0)
    assert (found.under(ADD_REMOVE).low, found.under(ADD_REMOVE).high) == (0.5, 0.5)
    assert found.under(REPLACE_ONE).high == 1.0
    (sought,) = account(law="laplace", steps=10, delta=0, eps=1.0, relation=REPLACE_ONE).spent
    assert sought.releases[0].noise == pytest.approx(20.0, rel=1e-9)


@settings(max_examples=10)
@given(st.floats(0.3, 5.0), st.floats(0.005, 1.0), st.integers(1, 300), st.sampled_from([ADD_REMOVE, REPLACE_ONE]))
def test_least_noise_keeps_epsilon_and_less_does_not(eps: float, rate: float, steps: int, relation: Any) -> None:
    (found,) = account(eps=eps, rate=rate, steps=steps, delta=1e-5, relation=relation).spent
    assert found.high <= eps * (1 + 1e-9)
    less = replace(found.releases[0], noise=0.98 * float(found.releases[0].noise or 0))
    assert account(less, delta=1e-5, relation=relation).under(relation).high > eps


def test_what_is_left_of_a_budget() -> None:
    spent = NoisyRelease(20.0, law="laplace", steps=10)
    (found,) = account(spent, NoisyRelease(rate=0.01, steps=1000), eps=3.0, delta=1e-5, relation=ADD_REMOVE).spent
    assert found.releases[0] == spent
    assert 2.99 < found.high <= 3.0
    with pytest.raises(InvalidInput, match="which the releases with noise spend"):
        account(spent, NoisyRelease(rate=0.01, steps=1000), eps=0.1, delta=1e-5)
    (both,) = account(spent, NoisyRelease(1.1, 0.01, 1000), eps=3.0, delta=1e-5, relation=ADD_REMOVE).spent
    assert both.releases[0].noise / both.releases[1].noise == pytest.approx(20.0 / 1.1)


def test_a_record_replaced_by_one_contribution_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted slip: replace-one with the sensitivity of add/remove falls below what is attained."""
    attained = account(noise=3.0, steps=4, delta=1e-5).under(REPLACE_ONE).low
    monkeypatch.setattr(accounting, "CONTRIBUTIONS", {ADD_REMOVE: 1.0, REPLACE_ONE: 1.0})
    assert account(noise=3.0, steps=4, delta=1e-5).under(REPLACE_ONE).high < attained


@given(st.floats(1e-12, 1e12))
def test_numbers_are_rounded_outwards(value: float) -> None:
    assert float(outwards(value, -1)) <= value <= float(outwards(value, 1))
    assert float(outwards(value, 1)) <= value * (1 + 1e-5)


def test_texts_and_notebook() -> None:
    found = dp.account(**SGD, delta=1e-5)
    assert "1000 answers with Gaussian noise 1.1 times a record's largest contribution" in str(found)
    name, low, high, *_ = found.rows[0]
    assert f"{name}: {low} ≤ ε ≤ {high} at δ = 1e-05" in str(found)
    assert (float(low), float(high)) == pytest.approx((1.515, 1.516), rel=1e-3)
    assert found._repr_html_().count("<tr>") == 3
    assert math.isclose(found.to_json()["spent"][0]["eps_high"], found.under(ADD_REMOVE).high)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = "account --noise 1.1 --rate 0.01 --steps 1e3 --delta 1e-5"
    assert main(shlex.split(command)) == 0
    titles, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert titles == ["relation", "eps_low", "eps_high", "delta", "noise"]
    assert [row[0] for row in rows] == ["add/remove-one", "replace-one"]
    assert main(shlex.split(f"{command} --relation replace-one --json")) == 0
    (one,) = json.loads(capsys.readouterr().out)["spent"]
    assert float(rows[1][1]) <= one["eps_low"] <= one["eps_high"] <= float(rows[1][2])
    assert main(shlex.split("account --rate 0.01 --steps 1000 --delta 1e-5 --eps 1 --relation add-remove")) == 0
    assert float(capsys.readouterr().out.split("\t")[-1]) == pytest.approx(1.4152, abs=1e-3)
    assert main(shlex.split("account --release noise=20,law=laplace --release noise=1.1,rate=0.1 --delta 1e-5")) == 0
    assert capsys.readouterr().out.count("20 1.1") == 2


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("account --delta 1e-5", "noise is None; it must be given, or sought for an eps"),
        ("account --noise -1 --delta 1e-5", "noise is -1.0"),
        ("account --noise 1 --rate 2 --delta 1e-5", "rate is 2.0"),
        ("account --noise 1 --delta 1", "delta is 1.0"),
        ("account --noise 1 --delta 0", "> 0 for Gaussian noise"),
        ("account --eps 1 --law laplace --rate 0.5 --delta 0", "> 0 for Gaussian noise and for batches"),
        ("account --noise 1 --rate 0.1 --sampling fixed --delta 1e-5 --relation add-remove", "batches of fixed size"),
        ("account --release noise=1,colour=red --delta 1e-5", "part of --release is colour=red"),
        ("account --release noise=one --delta 1e-5", "noise is one"),
        ("account --release noise=1,law=cauchy --delta 1e-5", "law is cauchy"),
        ("account --release noise=1,steps=1.5 --delta 1e-5", "steps is 1.5"),
    ],
)
def test_mistakes_get_one_sentence(command: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in " ".join(err.split())


def test_what_python_is_refused() -> None:
    with pytest.raises(InvalidInput, match="given in each NoisyRelease"):
        account(NoisyRelease(1.0), noise=1.0, delta=1e-5)
    with pytest.raises(InvalidInput, match="relation is local"):
        account(noise=1.0, delta=1e-5, relation=LOCAL)
    with pytest.raises(InvalidInput, match="relation is add/remove-one"):
        account(noise=1.0, delta=1e-5, relation=REPLACE_ONE).under(ADD_REMOVE)
