"""What kind of failure a refutation is: computed from evidence, never typed in."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from sympy import Eq, Ge, Le, log, sqrt

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Rate, Setting, Source, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import D, Delta, L, T, beta, c, delta, distance, eps, excess_risk, n, sigma
from dpcheck.bounds.privacy.judging import PATH
from dpcheck.bounds.privacy.numeric_checks import GaussianAccountant
from dpcheck.bounds.proving.proofs import AtMost, Equals, NoConstant
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.verdicts.failures import Failure, rank_of
from dpcheck.verdicts.record import recorded
from dpcheck.verdicts.severity import epsilon_of, severity
from dpcheck.verdicts.verify import weigh


def claim(states, assumes=(), kind=Kind.UTILITY, name="made", **more) -> Claim:
    return Claim(f"zhang17.{name}", Source("zhang17", "made up"), kind, "", states, assumes, **more)


def found(about: Claim, *others: Claim, recorded=None):
    pieces = [check.run(about, Effort()) for check in about.checks]
    assert Verdict.REFUTED in {e.verdict for e in pieces}
    known = {other.id: other for other in (about, *others)}
    return severity(about, about.checks, pieces, known, recorded or {}, Effort())


def gaussian(noise, assumes=()):
    check = GaussianAccountant(Delta / sigma, "moves by Δ", box={delta: (1e-6, 1e-2)})
    return claim(Eq(sigma, noise), assumes, Kind.PRIVACY, guarantee=ApproxDP(eps, delta), checks=[check])


def test_noise_that_fails_at_small_epsilon_is_a_privacy_failure() -> None:
    assert found(gaussian(sqrt(2 * log(1.25 / delta)) * Delta / (3 * eps))).failure is Failure.PRIVACY


def test_noise_that_fails_only_at_large_epsilon_says_from_where() -> None:
    """The classical noise with log(2/δ) is known to hold to about 7 and to fail by 11 for δ between 1e-6 and 1e-2."""
    grave = found(gaussian(sqrt(2 * log(2 / delta)) * Delta / eps))
    assert grave.failure is Failure.BEYOND
    low = float(grave.how_far.split("up to ε = ")[1].split(",")[0])
    assert 6 < low < 11


def test_what_shows_at_a_tiny_delta_alone_fails_only_beyond() -> None:
    """Noise of so many Δ/ε hides enough at a usual δ, or does not; at 1e-30 neither does."""
    for many, failure in ((9, Failure.BEYOND), (3, Failure.PRIVACY)):
        check = GaussianAccountant(Delta / sigma, "moves by Δ", box={delta: (1e-30, 1e-2)})
        fixed = claim(
            Eq(sigma, many * Delta / eps), [eps <= 1], Kind.PRIVACY, guarantee=ApproxDP(eps, delta), checks=[check]
        )
        assert found(fixed).failure is failure


def test_a_rate_that_breaks_only_along_growing_epsilon_fails_only_beyond() -> None:
    """Without a term for the sample L·D/√n, a rate in 1/(nε) is too small where ε outgrows √n, and nowhere below 1."""
    rate, family = Rate(excess_risk, L * D / (n * eps)), {n: T, L: 1, D: 1}
    far = claim(rate, checks=[NoConstant(L * D / n, {**family, eps: sqrt(T)}, T, "attained")])
    assert found(far).failure is Failure.BEYOND
    near = claim(rate, checks=[NoConstant(L * D / sqrt(n), {**family, eps: 1}, T, "attained")])
    assert found(near).failure is Failure.RATE
    shrinking = claim(rate, checks=[NoConstant(L * D / (n * eps**2), {**family, eps: 1 / T}, T, "attained")])
    assert found(shrinking).failure is Failure.RATE


def test_a_rate_is_off_by_what_can_be_read() -> None:
    """A short quotient is shown; that of two sums would fill lines and say nothing."""
    wrong = claim(Rate(excess_risk, L * D / n), checks=[NoConstant(L * D / sqrt(n), {n: T, L: 1, D: 1}, T, "attained")])
    right = replace(wrong, id="zhang17.better", states=Rate(excess_risk, L * D / sqrt(n)), corrects=wrong.id, checks=())
    assert found(wrong, right).how_far == "by sqrt(n)"
    terms = L * D / sqrt(n) + L * D * log(1 + T) ** 3 / (1 + eps * sqrt(n)) + L * D * log(2 / delta) / (2 + eps) ** 2
    assert found(wrong, replace(right, states=Rate(excess_risk, terms))).how_far == "no constant works"


def test_a_factor_has_its_logarithms_as_they_are_written() -> None:
    """Simplified, a product of two logarithms was one of a power."""
    noise = log(3 * n / delta) * log(2 / delta)
    wrong = claim(Le(excess_risk, L * D * (1 + noise)), checks=[AtMost(L * D * (1 + T * noise), "attained")])
    right = replace(wrong, id="zhang17.better", states=Le(excess_risk, L * D * (1 + T * noise)), corrects=wrong.id)
    factor = found(wrong, right).instead
    assert "log(3·n/δ)" in factor
    assert "log(2/δ)" in factor
    assert ")^" not in factor


def test_constants_rates_conditions_misprints_and_proofs() -> None:
    exact = [AtMost(2 * L * D / n, "attained")]
    wrong = claim(Le(excess_risk, L * D / n), checks=exact)
    better = claim(Le(excess_risk, 2 * L * D / n), name="better", corrects="zhang17.made")
    grave = found(wrong, better)
    assert (grave.failure, grave.how_far) == (Failure.CONSTANT, "a factor of 2")
    assert "2 times the printed" in grave.instead
    below = claim(Ge(excess_risk, L * D / (2 * n)), name="better", corrects="zhang17.made")  # of another relation
    assert (
        found(claim(Eq(excess_risk, L * D / n), checks=[Equals(L * D / (2 * n), "")]), below).how_far
        == "a factor of 0.5"
    )
    two_terms = claim(Le(excess_risk, L * D / n + L * D / n**2), checks=exact)
    apart = claim(Le(excess_risk, 3 * L * D / n + L * D / n**2), name="better", corrects="zhang17.made")
    grave = found(two_terms, apart)
    assert (grave.failure, grave.how_far) == (Failure.CONSTANT, "a factor of at most 3")
    slower = claim(Le(excess_risk, L * D / sqrt(n)), name="better", corrects="zhang17.made")
    assert found(wrong, slower).failure is Failure.RATE
    limited = claim(Le(excess_risk, L * D / n), [n <= 10], name="better", corrects="zhang17.made")
    grave = found(wrong, limited)
    assert (grave.failure, grave.how_far) == (Failure.CONDITION, "n ≤ 10")
    printed = claim(Le(excess_risk, L * D / n + L * D / n), name="next")
    slip = claim(Le(excess_risk, L * D / n), checks=exact, misprint_of="zhang17.next")
    assert found(slip, better, printed).failure is Failure.MISPRINT
    other = claim(Le(excess_risk, 3 * L * D / n), name="next")  # what is printed there is not the right form
    assert found(slip, better, other).failure is Failure.CONSTANT
    order = claim(Rate(excess_risk, L * D / n), name="next")  # a rate is right up to a constant
    assert found(slip, better, order).failure is Failure.MISPRINT
    off = claim(Rate(excess_risk, L * D / n**2), name="next")
    assert found(slip, better, off).failure is Failure.CONSTANT
    line = claim(Le(excess_risk, L * D / n), name="theorem.proof", checks=exact)
    assert found(line, recorded={"zhang17.theorem": {"verdict": "PROVED"}}).failure is Failure.PROOF
    assert found(line, recorded={"zhang17.theorem": {"verdict": "REFUTED"}}).failure is Failure.CONSTANT


def test_a_factor_that_steps_make_as_large_as_one_likes_is_a_rate() -> None:
    """It was called a constant, of the size that it happened to have at the point found."""
    wrong = claim(Le(excess_risk, L * D / (n + T)), checks=[AtMost(L * D, "attained")])
    still = replace(wrong, id="zhang17.better", states=Le(excess_risk, L * D), corrects=wrong.id)
    assert found(wrong, still).failure is Failure.RATE
    bounded = replace(still, states=Le(excess_risk, L * D * (2 + 1 / n) / (n + T)))
    assert found(replace(wrong, checks=[AtMost(2 * L * D / (n + T), "attained")]), bounded).failure is Failure.CONSTANT


def test_a_misprint_needs_another_place() -> None:
    """What the corrected version says was printed nowhere, if it names the same line."""
    exact = [AtMost(2 * L * D / n, "attained")]
    here = replace(claim(Le(excess_risk, 2 * L * D / n)).source, line=7)
    slip = replace(claim(Le(excess_risk, L * D / n), checks=exact, misprint_of="zhang17.better"), source=here)
    better = claim(Le(excess_risk, 2 * L * D / n), name="better", corrects="zhang17.made")
    assert found(slip, replace(better, source=here)).failure is Failure.CONSTANT
    assert found(slip, replace(better, source=replace(here, line=8))).failure is Failure.MISPRINT


def test_a_symbol_of_the_wrong_unit_is_a_slip() -> None:
    """β for L: nothing else is wrong, and the units show it. A symbol of the same unit is no slip of the pen."""
    exact = [AtMost(L * D / n, "attained")]
    better = claim(Le(excess_risk, L * D / n), name="better", corrects="zhang17.made")
    for_L = found(claim(Le(excess_risk, beta * D / n), checks=exact, ignores_units=True), better)
    assert str(for_L) == "misprint: β stands for L, as the units show"
    twice = claim(Le(excess_risk, beta * D / (2 * n)), checks=exact, ignores_units=True)
    assert found(twice, better).failure is not Failure.MISPRINT
    same_unit = claim(Le(excess_risk, L * distance / n), checks=exact)
    assert found(same_unit, better).failure is not Failure.MISPRINT


def test_a_symbol_is_a_slip_where_the_proof_has_another() -> None:
    """The distance for D, of one unit: the proof bounds the same by D, and nothing else is wrong."""
    exact = [AtMost(L * D / n, "attained")]
    better = claim(Le(excess_risk, L * D / n), name="better", corrects="zhang17.made")
    slip = claim(Le(excess_risk, L * distance / n), checks=exact, misprint_of="zhang17.steps")
    steps = claim(Le(excess_risk, L * D / (2 * T) + T * L * D / n**2), name="steps")
    assert str(found(slip, better, steps)) == "misprint: ‖w₀-ŵ‖ stands for D, which zhang17.steps has"
    for_both = claim(Le(excess_risk, L * distance / T + T * L * D / n**2), name="steps")
    assert found(slip, better, for_both).failure is not Failure.MISPRINT
    of_another = claim(Le(sigma, L * D / T), name="steps")
    assert found(slip, better, of_another).failure is not Failure.MISPRINT
    and_n = claim(Le(excess_risk, L * distance / n**2), checks=exact, misprint_of="zhang17.steps")
    assert found(and_n, better, steps).failure is not Failure.MISPRINT


def test_words_that_a_proof_adds_are_no_slip_where_the_formula_differs() -> None:
    tuned = Setting("s large enough")
    slip = replace(
        claim(Le(excess_risk, L * D / n), checks=[AtMost(2 * L * D / n, "attained")], misprint_of="zhang17.better"),
        source=Source("zhang17", "made up", line=7),
    )
    better = claim(Le(excess_risk, 2 * L * D / n), [tuned], name="better", corrects="zhang17.made")
    assert str(found(slip, better)) == "misprint: the right form is zhang17.better"


def test_a_lost_factor_is_a_slip_where_the_units_show_it() -> None:
    """L missing, or squared: the corrected formula has one unit with the subject. n has none, and shows nothing."""
    exact = [AtMost(L * D / n, "attained")]
    better = claim(Le(excess_risk, L * D / n), name="better", corrects="zhang17.made")

    def graded(formula, states=Le):
        made = claim(states(excess_risk, formula), checks=exact, ignores_units=True)
        return severity(made, exact, [Evidence("symbolic", Verdict.REFUTED, "")], {better.id: better}, {}, Effort())

    assert str(graded(D / n)) == "misprint: a factor of L is lost, as the units show"
    assert str(graded(L**2 * D / n)) == "misprint: a factor of 1/L is lost, as the units show"
    assert graded(D / (2 * n)).failure is not Failure.MISPRINT  # and a constant beside it
    assert graded(D / (2 * n), Rate).failure is Failure.MISPRINT  # of which a rate says nothing
    assert graded(D / n**2, Rate).failure is not Failure.MISPRINT
    assert graded(L * D / n**2).failure is not Failure.MISPRINT
    assert graded(sqrt(D) / n).failure is not Failure.MISPRINT  # two symbols are off


def test_a_line_that_the_box_leaves_out_is_a_slip_where_the_proof_has_it() -> None:
    """The same formula, for an algorithm that the proof prints with noise: words make the difference, and must."""
    noisy = Setting("line 7 adds noise")
    leaks = Evidence("audit", Verdict.REFUTED, "audited eps >= 4.7 at delta 0.01, claimed 1")

    def graded(in_proof=(noisy,), corrected=(noisy,), factor=3, verdict="LOOSE"):
        noise = sqrt(c) * Delta / eps
        about = claim(
            Eq(sigma, noise), [], Kind.PRIVACY, guarantee=PureDP(eps), hidden=(c,), misprint_of="zhang17.query"
        )
        query = replace(about, id="zhang17.query", assumes=in_proof, misprint_of=None)
        right = claim(
            Eq(sigma, factor * Delta / eps), corrected, Kind.PRIVACY, "right", guarantee=PureDP(eps), corrects=about.id
        )
        known = {one.id: one for one in (query, right)}
        return severity(about, [], [leaks], known, {right.id: {"verdict": verdict}}, Effort())

    assert str(graded()) == "misprint: the right form is zhang17.query: line 7 adds noise"
    assert graded(in_proof=()).failure is Failure.PRIVACY
    assert graded(corrected=(noisy, Setting("and one more change"))).failure is Failure.PRIVACY
    assert graded(factor=3 / n).failure is Failure.PRIVACY
    assert graded(verdict="REFUTED").failure is Failure.PRIVACY


def test_a_table_says_which_cell_is_wrong() -> None:
    cell = {"row": 3, "column": "cost", "printed": "n", "claim": "n^2"}
    refuted = Evidence("symbolic", Verdict.REFUTED, "1 of 2 cells are what the claims give", "", counterexample=cell)
    table = claim(Rate(excess_risk, L / L), name="table")
    right = claim(Rate(excess_risk, L / L), name="right", corrects=table.id)
    graded = severity(table, [], [refuted], {c.id: c for c in (table, right)}, {}, Effort())
    assert str(graded) == "rate: of the cost in row 3"


def test_severities_have_an_order() -> None:
    ranks = [rank_of(f"{failure}: more") for failure in Failure]
    assert ranks == sorted(ranks)
    assert rank_of("") > max(ranks)


# Audits within hypotheses and quantifiers ----------------------------------------------------------
def leaking(data, rng, trials):
    return data.sum() + rng.laplace(scale=0.1, size=trials)


def audited(about: Claim, **more):
    pair = (np.zeros(3), np.array([0.0, 0.0, 1.0]))
    check = AuditCheck(lambda: (leaking, pair, PureDP(1.0)), "planted: a tenth of the noise", 4000, **more)
    return check.run(about, Effort())


def private(assumes=(), **more) -> Claim:
    return claim(Eq(sigma, Delta / eps), assumes, Kind.PRIVACY, guarantee=PureDP(eps), **more)


def test_an_audit_refutes_only_inside_the_hypotheses() -> None:
    """False alarms: 1e-6. The mechanism leaks ten times what it claims; what is claimed decides whether that counts."""
    assert audited(private()).verdict is Verdict.REFUTED
    assert audited(private([eps <= 1])).verdict is Verdict.REFUTED
    outside = audited(private([eps < 1]))
    assert outside.verdict is Verdict.UNCHECKED
    assert "does not hold here" in outside.figure
    undecided = audited(private([n >= T]))
    assert undecided.verdict is Verdict.UNCHECKED
    assert "does not say what T, n is" in undecided.figure
    assert audited(private([n >= T]), at={"T": 1, "n": 3}).verdict is Verdict.REFUTED
    assert audited(private([n >= T]), at={"T": 5, "n": 3}).verdict is Verdict.UNCHECKED


def test_an_audit_of_constants_that_exist_refutes_nothing() -> None:
    some = claim(Eq(sigma, c * Delta / eps), kind=Kind.PRIVACY, guarantee=PureDP(eps), hidden=[c])
    assert "refutes nothing" in audited(some).figure
    assert audited(some, any_constants="there is no noise at all").verdict is Verdict.REFUTED
    rate = claim(Rate(sigma, Delta / eps), kind=Kind.PRIVACY, guarantee=PureDP(eps))
    assert audited(rate).verdict is Verdict.UNCHECKED


# What a chain rests on ------------------------------------------------------------------------------
def resting(*cited: str, **more: Verdict) -> Evidence:
    proof = Evidence("symbolic", Verdict.PROVED, "2 links", premises=("Jensen",), rests=cited)
    known = {name: {"verdict": str(v), "evidence": [{"verdict": str(v)}]} for name, v in more.items()}
    return weigh(proof, known)


def test_a_chain_through_a_refuted_claim_proves_nothing() -> None:
    assert resting("a", "b", a=Verdict.PROVED, b=Verdict.PROVED).premises == ("Jensen",)
    fallen = resting("a", "b", a=Verdict.PROVED, b=Verdict.REFUTED)
    assert fallen.verdict is Verdict.UNCHECKED
    assert fallen.figure == "rests on b, which is refuted"
    assert resting("a", a=Verdict.VACUOUS).verdict is Verdict.UNCHECKED


def test_a_chain_through_a_claim_that_is_not_proved_is_given_it() -> None:
    for verdict in (Verdict.CERTIFIED, Verdict.LOOSE, Verdict.SUPPORTED, Verdict.UNCHECKED):
        assert resting("a", a=verdict).premises == ("Jensen", f"a ({verdict.lower()})")
    assert resting("a").premises == ("Jensen", "a (unchecked)")


def test_a_path_on_which_epsilon_grows_is_no_failure_at_its_start() -> None:
    """Of wangxu19.theorem1 no constant serves all ε, from ε = 0.6 on along the path; up to 1 one does."""
    piece = Evidence(
        "accountant", Verdict.REFUTED, "no c works", counterexample={"eps": 600.0, PATH: {"T": 1.0, "eps": 1.0}}
    )
    assert epsilon_of(piece) == math.inf
    assert epsilon_of(replace(piece, counterexample={"eps": 0.6, PATH: {"T": 1.0}})) == 0.6
    assert recorded()["wangxu19.theorem1"]["severity"].startswith("only beyond")
