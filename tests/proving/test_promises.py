"""A proof of privacy reads the promise: of another it shows nothing; nor of a claim that lacks what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from made_chains import claim, proves, run
from sympy import Eq, Le

from dpcheck.bounds.language.claim import Claim, Effort, Kind, Setting, Verdict
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee, PureDP
from dpcheck.bounds.language.symbols import Delta, eps, n, ratio, sigma
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals
from dpcheck.bounds.registry import library
from dpcheck.verdicts.catalogue import catalogue
from dpcheck.verdicts.record import recorded

QUICK = Effort()
SAID = Setting("a record moves it by Δ at most")
noise = claim(Eq(sigma, Delta / eps), [SAID], Kind.PRIVACY, guarantee=PureDP(eps), ignores_units=True)


def by_value() -> Iterator[tuple[Claim, AtMost]]:
    """Every proof in the library that compares a loss with what is promised."""
    known = recorded()
    for row in catalogue().values():
        if row.kind == "privacy" and known.get(row.id, {}).get("verdict") == Verdict.PROVED:
            about = library[row.id]
            yield from ((about, c) for c in about.checks if isinstance(c, AtMost) and c.against is not None)


def promising(promise: Guarantee, factor: int) -> Guarantee:
    return type(promise)(**{k: v / factor for k, v in promise.parameters.items()}, relation=promise.relation)


def test_losses_are_compared_with_the_promise_of_the_claim() -> None:
    found = list(by_value())
    assert len(found) > 10
    for about, check in found:
        for promise in (None, promising(about.guarantee, 1000)):
            assert check.run(replace(about, guarantee=promise), QUICK).verdict is not Verdict.PROVED, about.id


def test_a_promise_of_another_kind_is_not_read() -> None:
    loss = AtMost(Delta / sigma, "the loss", against=eps)
    assert loss.run(noise, QUICK).verdict is Verdict.PROVED
    assert loss.run(replace(noise, guarantee=PureDP(2 * eps)), QUICK).verdict is Verdict.PROVED
    stricter = loss.run(replace(noise, guarantee=PureDP(eps / 2)), QUICK)
    assert stricter.verdict is Verdict.REFUTED
    assert loss.replay(replace(noise, guarantee=PureDP(eps / 2)), stricter.counterexample).verdict is Verdict.REFUTED
    unread = AtMost(Delta / sigma, "the loss", against=n)
    assert unread.run(noise, QUICK).figure.startswith("the promise is not read")


def test_a_chain_on_the_promised_number_is_about_that_number() -> None:
    about = library["dwang20.theorem5.1.12.privacy"]
    (chain,) = (c for c in about.checks if isinstance(c, Chain))
    assert chain.run(about, QUICK).verdict is Verdict.CERTIFIED
    assert chain.run(replace(about, guarantee=promising(about.guarantee, 1000)), QUICK).verdict is Verdict.UNCHECKED


@pytest.mark.parametrize("claim_id", ["dwang20.theorem6.1.2.corrected", "dwang20.theorem5.3.6"])
def test_noise_is_cited_for_the_promise_that_is_made(claim_id: str) -> None:
    about = library[claim_id]
    (chain,) = (c for c in about.checks if isinstance(c, Chain))
    for name in ("eps", "delta"):
        more = {**about.guarantee.parameters, name: about.guarantee.parameters[name] / 1000}
        found = chain.run(replace(about, guarantee=ApproxDP(**more, relation=about.guarantee.relation)), QUICK)
        assert found.verdict is Verdict.UNCHECKED
        assert "promises" in found.figure + found.detail


def test_without_what_it_rests_on_no_check_shows_anything() -> None:
    bare = replace(noise, assumes=())
    loss = AtMost(Delta / sigma, "the loss", against=eps, uses=[SAID])
    numbers = claim(Le(ratio, 2), [n >= 2])
    bound = Chain(ratio, Step("<=", 4 / n, because=Premise("counted"), uses=[n >= 2]), Step("<=", STATEMENT))
    same = Equals(Delta / eps, "by definition", uses=[SAID])
    account = Accountant(Release(Delta, Laplace(sigma)), "it moves by Δ", uses=[SAID])
    for check in (loss, same, account):
        assert check.run(noise, QUICK).verdict in (Verdict.PROVED, Verdict.CERTIFIED)
        found = check.run(bare, QUICK)
        assert found.verdict is Verdict.UNCHECKED
        assert SAID.words in found.figure
    assert proves(bound, numbers)
    assert "n ≥ 2" in run(bound, replace(numbers, assumes=[n >= 1])).figure


def test_a_step_may_rest_on_the_promise() -> None:
    promise = PureDP(eps, relation=LOCAL)
    about = claim(Le(ratio, 2), [n >= 2], guarantee=promise)
    bound = Chain(ratio, Step("<=", 4 / n, because=Premise("of private ones"), uses=[promise]), Step("<=", STATEMENT))
    assert proves(bound, about)
    assert not proves(bound, replace(about, guarantee=PureDP(2 * eps, relation=LOCAL)))
