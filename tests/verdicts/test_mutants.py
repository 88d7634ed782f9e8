"""Mutants: a toothless check is reported, a sound one notices, and only statements that are false count."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from sympy import Eq, Integer, Le, exp, log, sqrt

from dpcheck.bounds.language.claim import LOGS_FREE, Claim, Effort, Evidence, Kind, Rate, Setting, Source, Verdict
from dpcheck.bounds.language.symbols import (
    D,
    L,
    T,
    beta,
    c,
    d,
    delta,
    delta1,
    eps,
    eps_out,
    eta,
    excess_risk,
    mu,
    n,
    ratio,
)
from dpcheck.bounds.privacy.numeric_checks import CompositionAccountant
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals
from dpcheck.bounds.registry import library
from dpcheck.verdicts import mutants
from dpcheck.verdicts.catalogue import catalogue
from dpcheck.verdicts.falsifying import STRONG, mutants_of

SHARE = 8  # mutants of the library that every run of the tests judges


def claim(states, assumes=(), kind=Kind.UTILITY, **more) -> Claim:
    return Claim("zhang17.made0", Source("zhang17", "made up"), kind, "", states, assumes, **more)


def survivors(about: Claim) -> list[str]:
    found = []
    for mutant in mutants_of(about, about.checks):
        pieces = [check.run(mutant.claim, Effort()) for check in about.checks]
        if mutants.judge(pieces, about.kind) in STRONG:
            found.append(mutant.how)
    return found


def made(about: Claim) -> list[str]:
    return [mutant.how for mutant in mutants_of(about, about.checks)]


chain = Chain(
    excess_risk, Step("<=", L * D * log(1 / delta) / n + eta * L**2, because=Premise("known")), Step("<=", STATEMENT)
)
bound = Le(excess_risk, L * D * log(1 / delta) / n + L**2 / beta)


@dataclass(frozen=True)
class Toothless:
    """Planted: a proof that never looks at the statement."""

    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return Evidence(self.kind, Verdict.PROVED, "1 + 1 = 2")


def test_a_toothless_check_is_reported() -> None:
    about = claim(bound, [eta <= 1 / beta], checks=[Toothless()])
    assert {"over 1000", "direction flipped", "log(1/δ) dropped"} <= set(survivors(about))


def test_a_chain_notices_every_mutant() -> None:
    about = claim(bound, [eta <= 1 / beta], checks=[chain])
    assert survivors(about) == []
    assert {"over 1000", "over 3/2", "direction flipped", "η ≤ 1/β dropped", "times (n)^(-1/2)"} <= set(made(about))


def test_what_stays_true_is_no_mutant() -> None:
    """An upper bound made larger, a rate times a constant, a constant within what is known to be slack."""
    about = claim(bound, [eta <= 1 / beta], checks=[chain])
    assert not {"times 1000", "times 3/2", "times (n)^(1/2)"} & set(made(about))
    loose = claim(Le(excess_risk, 10 * L * D / n), checks=[AtMost(L * D / n, "known", exact=False)])
    assert "over 3/2" not in made(loose)
    assert "over 1000" in made(loose)
    rate = claim(Rate(excess_risk, L * D / n), checks=[])
    assert not [how for how in made(rate) if how.startswith(("times 1000", "over"))]


def test_every_change_of_an_equation_is_a_mutant() -> None:
    about = claim(Eq(excess_risk, 2 * L * D / n), kind=Kind.IDENTITY, checks=[Equals(L * D / n + L * D / n, "twice")])
    assert {"times 1000", "over 1000", "times 3/2", "over 3/2"} <= set(made(about))
    assert survivors(about) == []


def test_a_hypothesis_that_is_not_needed_is_no_mutant() -> None:
    about = claim(bound, [eta <= 1 / beta, eps <= 1], checks=[chain])
    assert "ε ≤ 1 dropped" not in made(about)


def test_a_hypothesis_in_words_or_added_must_be_named_by_the_proof() -> None:
    """A run that starts at 0, a convex set that is symmetric: dropped, they left their statements proved."""
    words, more = Setting("the run starts at 0"), d <= n
    kept = {"assumes": [eta <= 1 / beta, words, LOGS_FREE], "added": [more], "checks": [chain]}
    unnamed = {f"{h} dropped, which a proof must name" for h in (words, "d ≤ n")}
    assert set(survivors(claim(bound, **kept))) == unnamed
    first, last = chain.steps
    named = Chain(excess_risk, replace(first, uses=[words, more]), last)
    assert not survivors(claim(bound, **kept | {"checks": [named]}))
    assert unnamed <= set(made(claim(bound, **kept | {"checks": [named]})))
    assert not unnamed & set(made(claim(bound, kind=Kind.COST, **kept)))


@pytest.mark.parametrize(
    "claim_id",
    [
        "zhang17.lemma2.confined",
        "zhang17.theorem3.pure.proof",
        "zhang17.lemma11.step",
        "wangxu19.algorithm4.width",
        "lssgd20.theorem3.corrected",
        "dwang20.lemma3.1.7",
        "lwang21.section4.5.clipping",
    ],
)
def test_claims_about_convex_and_other_losses_notice_what_is_dropped(claim_id) -> None:
    about = library[claim_id]
    dropped = [m for m in mutants_of(about, about.checks) if m.how.endswith("which a proof must name")]
    assert dropped
    for mutant in dropped:
        pieces = [check.run(mutant.claim, Effort()) for check in about.checks if check.kind == "symbolic"]
        assert mutants.judge(pieces, about.kind) not in STRONG, mutant.how


def test_a_constant_that_the_proof_chooses_makes_no_hypothesis_needed() -> None:
    """1/d ≤ d^-c for the c = 1 that the proof takes, with ε ≤ 1 or without; another c would make it seem needed."""
    proof = Chain(ratio, Step("<=", 1 / d, because=Premise("known")), Step("<=", STATEMENT), choosing={c: Integer(1)})
    about = replace(claim(Le(ratio, d ** (-c)), [eps <= 1], checks=[proof]), hidden=(c,))
    assert "ε ≤ 1 dropped" not in made(about)
    needed = Chain(
        ratio, Step("<=", eps / d, because=Premise("known")), Step("<=", STATEMENT), choosing={c: Integer(1)}
    )
    assert "ε ≤ 1 dropped" in made(replace(about, checks=(needed,)))


def test_symbols_of_one_unit_are_swapped_and_slips_in_units_left_to_the_registry() -> None:
    about = claim(Le(excess_risk, L**2 * (mu + 2 * beta) / (mu * beta * n)), [mu <= beta], checks=[])
    assert "β and μ swapped" in made(about)
    assert not [how for how in made(about) if how.startswith("times (L)")]
    for mutant in mutants_of(about, []):
        assert mutant.claim.unit_gap is None


@dataclass(frozen=True)
class Slow:
    kind: ClassVar[str] = "symbolic"

    def run(self, about: Claim, effort: Effort) -> Evidence:
        while True:
            np.linalg.norm(np.ones(10))


def test_a_check_that_does_not_end_is_out_of_time() -> None:
    """In a thread, too, as the workers of a cluster have them."""

    def run() -> str:
        with pytest.raises(mutants.OutOfTime), mutants.TimeLimit(0.2):
            Slow().run(claim(bound), Effort())
        return "ended"

    assert run() == "ended"
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(run).result() == "ended"


def test_waiting_for_a_busy_machine_is_no_work() -> None:
    with mutants.TimeLimit(0.1):
        time.sleep(0.3)


def test_a_time_limit_that_was_kept_ends_nothing_later() -> None:
    limits = [mutants.TimeLimit(0.0) for _ in range(200)]
    late = 0
    for limit in limits:
        try:
            with limit:
                time.sleep(1e-4)
        except mutants.OutOfTime:
            late += 1
    for limit in limits:
        limit.timer.join()
    sum(range(10**6))  # steps in which a straggler would arrive
    assert late > 0


def test_a_random_share_of_the_library() -> None:
    """Drawn by what verdicts depend on: the same for one tree, another after each change. `--mutants` runs them all."""
    found = mutants.survey(catalogue(), sample_size=SHARE, seed=mutants.seed_of_tree(), each=20.0, total=60.0)
    assert [(o.id, o.how, o.why) for o in found.survivors] == []
    assert found.outcomes


def test_what_is_known_to_have_room_is_no_mutant() -> None:
    """A check that found the statement loose by a factor of 4 says that half of it is true."""
    about = claim(Le(excess_risk, 4 * L * D / n))
    piece = Evidence("worst-case", Verdict.LOOSE, "", margin=3.0)
    hows = [m.how for m in mutants_of(about, [], found=[piece])]
    assert "over 3/2" not in hows
    assert {"over 1000", "times (n)^(-1/2)"} <= set(hows)


def test_what_is_known_together_shows_a_mutant_to_be_true() -> None:
    """Strong composition without a root of ε: true below 1 for its slack, and above because losses add up."""
    strong = T * eps * (exp(eps) - 1) + sqrt(2 * T * log(1 / delta1)) * eps
    about = claim(Eq(eps_out, strong), kind=Kind.PRIVACY)
    piece = Evidence("accountant", Verdict.LOOSE, "", margin=1.0)
    hows = [m.how for m in mutants_of(about, [CompositionAccountant("")], found=[piece])]
    assert "times (ε)^(-1/2)" not in hows
    assert {"over 1000", "times (T)^(-1/2)"} <= set(hows)


def test_an_equation_shows_both_directions() -> None:
    chain = Chain(excess_risk, Step("=", L + L, because=Premise("twice")), Step("=", STATEMENT))
    for check in (Equals(L + L, "twice"), chain):
        assert "direction flipped" not in [m.how for m in mutants_of(claim(Le(excess_risk, 2 * L)), [check])]


@pytest.mark.parametrize(
    ("check", "figure", "part", "true"),
    [
        ("accountant", "other numbers", "", True),
        ("accountant", "the same", "", False),
        ("accountant", "other numbers", "at 5 points", False),
        ("symbolic", "other numbers", "", False),
    ],
)
def test_only_a_cover_of_the_box_that_reads_the_mutant_calls_it_true(check, figure, part, true) -> None:
    before = [Evidence(check, Verdict.LOOSE, "the same")]
    assert mutants.reread(Evidence(check, Verdict.LOOSE, figure, part=part), before) is true


def test_a_run_goes_on_where_it_was(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DPCHECK_CACHE", str(tmp_path))
    kept = mutants.Kept("zhang17.lemma2", 0, 20.0)
    assert kept.read() is None
    rows = [mutants.Outcome("zhang17.lemma2", "over 1000", "", "noticed", "", 0.1)]
    kept.write(rows)
    assert kept.read() == rows
    assert mutants.Kept("zhang17.lemma2", 1, 20.0).read() is None
    kept.path.write_text("{")
    assert kept.read() is None


def test_counts_per_document() -> None:
    rows = [
        mutants.Outcome("zhang17.a", "over 1000", "", "noticed", "", 0.1),
        mutants.Outcome("zhang17.a", "flipped", "", Verdict.PROVED, "", 0.1),
        mutants.Outcome("dwang20.b", "flipped", "", mutants.LATE, "", 0.1),
    ]
    found = mutants.Survey(rows)
    assert found.counts() == {
        "zhang17": {"mutants": 2, "noticed": 1, "survivors": 1},
        "dwang20": {"mutants": 1, "out of time": 1},
    }
    assert [o.how for o in found.survivors] == ["flipped"]
    assert found.to_json()["out of time"][0]["id"] == "dwang20.b"


def test_privacy_is_falsified_by_less_noise() -> None:
    from dpcheck.bounds.language.guarantees import PureDP
    from dpcheck.bounds.language.symbols import Delta, sigma

    about = claim(
        Eq(sigma, 2 * Delta / eps),
        kind=Kind.PRIVACY,
        guarantee=PureDP(eps),
        checks=[AtMost(Delta / sigma, "log-densities differ by that", against=eps)],
    )
    hows = made(about)
    assert "over 1000" in hows
    assert "times 1000" not in hows
    assert survivors(about) == []
