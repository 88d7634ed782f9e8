"""The reasons of a chain's steps: inductions, slack, solutions, minima. What each must not let through is tried too."""

from dataclasses import replace

import pytest
import sympy
from made_chains import claim, fact, proves, run, v
from sympy import Eq, Ge, Le, Lt

from dpcheck.bounds.language.claim import Cites, Rate, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import D, Delta, Delta_T, L, T, beta, eps, eta, excess_risk, n, noise_norm2
from dpcheck.bounds.proving.chains import (
    STATEMENT,
    Chain,
    Induction,
    Minimiser,
    OneStep,
    OnlySolution,
    Rearranged,
    Slack,
    Step,
)

u = sympy.Symbol("u", nonnegative=True)
x, y = sympy.symbols("x y", real=True)


# Inductions --------------------------------------------------------------------------------------
def test_an_induction_reads_its_recurrence_from_a_claim(known):
    now, later = noise_norm2, Delta
    one = known(claim(Le(later**2, now**2 + 4 * L * now + 8 * L**2), number=1))
    chain = Chain(Delta_T, Step("<=", STATEMENT, because=Induction(over=T, step=OneStep(one, now, later))))
    about = claim(Le(Delta_T, 3 * L * T))
    assert proves(chain, about)
    assert run(chain, about).rests == (one,)
    for wrong in (2 * L * T, 3 * L * sympy.sqrt(T), 3 * L):
        assert not proves(chain, replace(about, states=Le(Delta_T, wrong)))


def test_an_induction_without_a_claim_names_its_premise():
    step = Induction(over=T, step=lambda b: b + 2 * L / n, given="a step does not expand")
    chain = Chain(Delta_T, Step("<=", STATEMENT, because=step))
    found = run(chain, claim(Le(Delta_T, 2 * L * T / n)))
    assert found.verdict is Verdict.PROVED
    assert found.premises == ("a step does not expand", "Δ_T is what 0 becomes in T steps")
    assert not proves(chain, claim(Le(Delta_T, 2 * L * T / n - L)))
    with pytest.raises(InvalidInput, match="given"):
        run(Chain(Delta_T, Step("<=", STATEMENT, because=Induction(over=T, step=lambda b: b))), claim(Le(Delta_T, L)))


def test_an_induction_over_a_sum():
    k = sympy.Symbol("k", positive=True, integer=True)
    total = sympy.Sum(k * L, (k, 1, T))
    steps = [Step("<=", total, because=fact), Step("<=", STATEMENT, because=Induction(over=T))]
    assert proves(Chain(excess_risk, *steps), claim(Le(excess_risk, L * T * (T + 1) / 2)))
    assert not proves(Chain(excess_risk, *steps), claim(Le(excess_risk, L * T**2 / 2)))


def test_a_hypothesis_on_the_number_of_steps_does_not_carry_an_induction():
    step = Induction(over=T, step=lambda b: b + L, given="adds L")
    chain = Chain(Delta_T, Step("<=", STATEMENT, because=step))
    assert not proves(chain, claim(Le(Delta_T, L * sympy.sqrt(T)), [T <= 1]))


def test_the_first_step_of_an_induction_counts():
    """LT - LT/(1+T²) is 0 at 0 and grows by L at least from 1 on, but not from 0 to 1."""
    step = Induction(over=T, step=lambda b: b + L, given="adds L")
    chain = Chain(Delta_T, Step("<=", STATEMENT, because=step))
    assert not proves(chain, claim(Le(Delta_T, L * T - L * T / (1 + T**2))))


def test_a_step_may_depend_on_the_count():
    """From T to T+1 it adds (T+1)L, from 0 to 1 therefore L."""
    step = Induction(over=T, step=lambda b: b + (T + 1) * L, given="adds (T+1)L")
    chain = Chain(Delta_T, Step("<=", STATEMENT, because=step))
    assert proves(chain, claim(Le(Delta_T, L * T * (T + 1) / 2)))
    assert not proves(chain, claim(Le(Delta_T, L * T**2 / 2)))


def test_where_an_induction_begins_is_a_premise_and_must_cover_all_counts():
    chain = Chain(
        excess_risk, Step("<=", STATEMENT, because=Induction(over=T, start=D, step=lambda b: b / 2, given="halves"))
    )
    assert "becomes in T steps" in run(chain, claim(Le(excess_risk, D / 2**T))).shown
    assert not proves(chain, claim(Le(excess_risk, D / 3**T)))
    assert not proves(chain, claim(Le(excess_risk, D / 2**T / 10)))
    k = sympy.Symbol("k", positive=True, integer=True)
    total = sympy.Sum(L / k, (k, 1, T))
    late = [Step("<=", total, because=fact), Step("<=", STATEMENT, because=Induction(over=T, first=2))]
    about = claim(Le(excess_risk, L * T - L / 2))
    assert not proves(Chain(excess_risk, *late), about)
    assert proves(Chain(excess_risk, *late), replace(about, assumes=[T >= 2]))


def test_a_step_of_another_claim_is_used_in_its_direction(known):
    one = known(claim(Ge(Delta, noise_norm2 + L), number=1))
    chain = Chain(Delta_T, Step("<=", STATEMENT, because=Induction(over=T, step=OneStep(one, noise_norm2, Delta))))
    assert not proves(chain, claim(Le(Delta_T, L * T)))


# Slack -------------------------------------------------------------------------------------------
def test_slack_must_add_up_and_its_signs_must_be_seen():
    x, y = sympy.symbols("x y", real=True)
    chain = Chain(
        excess_risk,
        Step("=", (x + y) ** 2 + eta * x**2, because=fact),
        Step(
            "<=",
            STATEMENT,
            because=Slack(
                given={"y² ≤ L²": 2 * (L**2 - y**2), "x² ≤ D²": (2 + 1 / beta) * (D**2 - x**2)},
                seen=[(x - y) ** 2, (1 / beta - eta) * x**2],
            ),
        ),
    )
    about = claim(Le(excess_risk, (2 + 1 / beta) * D**2 + 2 * L**2), [eta <= 1 / beta])
    found = run(chain, about)
    assert found.verdict is Verdict.PROVED
    assert found.premises == ("known", "y² ≤ L²", "x² ≤ D²")
    assert "is not seen" in run(chain, replace(about, assumes=[])).detail
    assert "do not add up" in run(chain, replace(about, states=Le(excess_risk, D**2))).detail


def test_a_reason_shows_the_sign_of_one_factor_and_no_other():
    """With steps beyond 2/β a descent lemma was divided by a negative number, and all stayed proved."""
    x = sympy.Symbol("x", real=True)
    weight = 2 * eta - beta * eta**2
    chain = Chain(
        excess_risk,
        Step("=", x**2, because=fact),
        Step(
            "<=",
            STATEMENT,
            because=Slack(given={"the descent lemma": (D - weight * x**2) / weight}, seen=[D / eta]),
        ),
    )
    about = claim(Le(excess_risk, D / weight + D / eta), [eta < 2 / beta])
    assert proves(chain, about)
    assert "is not seen to be ≥ 0" in run(chain, replace(about, assumes=[])).detail


def test_slack_may_be_a_cited_inequality(known):
    """(2/β - η) times a cited bound; a factor that may be negative, an equation and a rate are refused."""
    cited = known(claim(Le(noise_norm2, L * D), [eta <= 1 / beta], number=1))
    about = claim(Le(excess_risk, (2 / beta - eta) * L * D + eps**2), [eta <= 2 / beta])

    def chain(relation="<=", factor=2 / beta - eta, source=cited):
        before = Step("<=", factor * noise_norm2, because=fact)
        return Chain(
            excess_risk,
            before,
            Step(relation, STATEMENT, because=Slack(seen=[eps**2], cited=[(factor, Cites(source))])),
        )

    assert "needs η ≤ 1/β" in run(chain(), about).detail + run(chain(), about).figure
    known(claim(Le(noise_norm2, L * D), number=1))
    found = run(chain(), about)
    assert (found.verdict, found.rests, found.premises) == (Verdict.PROVED, (cited,), ("known",))
    assert [c.id for c in chain().cites] == [cited]
    assert not proves(chain(), replace(about, states=Le(excess_risk, (1 / beta - eta) * L * D + eps**2)))
    assert "not seen" in run(chain(), replace(about, assumes=[])).detail
    assert "show no =" in run(chain("="), about).detail
    with pytest.raises(InvalidInput, match="rate"):
        run(chain(source=known(claim(Rate(noise_norm2, L * D), number=2))), about)


def test_slack_shows_no_equation_and_nothing_strict():
    for relation, states in (("=", Eq), ("<", Lt)):
        chain = Chain(excess_risk, Step("=", L, because=fact), Step(relation, STATEMENT, because=Slack(seen=[D])))
        assert not proves(chain, claim(states(excess_risk, L + D)))


# Solutions ---------------------------------------------------------------------------------------
def test_a_citation_may_be_solved_for_what_it_bounds(known):
    """E' <= E - (eta - beta eta^2) z^2 + D: at eta = 1/(2 beta), z^2 <= 4 beta (E - E' + D)."""
    square = noise_norm2**2
    one = known(claim(Le(Delta_T, Delta - (eta - beta * eta**2) * square + D)))
    short = [Eq(eta, 1 / (2 * beta))]
    solved = Step("<=", because=Rearranged(one))
    stated = claim(Le(square, 4 * beta * (Delta - Delta_T + D)), short, number=1)
    assert proves(Chain(square, solved, Step("=", STATEMENT)), stated)
    assert Chain(square, solved, Step("=", STATEMENT)).cites == [Cites(one)]
    less = claim(Le(square, 3 * beta * (Delta - Delta_T + D)), short, number=1)
    assert not proves(Chain(square, solved, Step("=", STATEMENT)), less)
    unseen = claim(Le(square, 4 * beta * (Delta - Delta_T + D)), number=1)
    assert not proves(Chain(square, solved, Step("<=", STATEMENT)), unseen)
    lower = claim(Ge(square, 4 * beta * (Delta - Delta_T + D)), short, number=1)
    assert not proves(Chain(square, Step(">=", because=Rearranged(one)), Step("=", STATEMENT)), lower)


def test_a_solution_is_put_into_its_equations() -> None:
    """x = (1 + β·x)/2 has one solution; a factor or a sign is noticed, and why it is the one is shown."""
    chain = Chain(
        eps, Step("=", STATEMENT, because=OnlySolution(lambda x: [2 * x - 1 - beta * x], "ε is the fixed point"))
    )
    found = run(chain, claim(Eq(eps, 1 / (2 - beta))))
    assert (found.verdict, found.premises) == (Verdict.PROVED, ("ε is the fixed point",))
    for wrong in (Eq(eps, 2 / (2 - beta)), Eq(eps, 1 / (2 + beta))):
        assert not proves(chain, claim(wrong))
    below = Chain(
        eps, Step("<=", STATEMENT, because=OnlySolution(lambda x: [2 * x - 1 - beta * x], "ε is the fixed point"))
    )
    assert "one value" in run(below, claim(Le(eps, 1 / (2 - beta)))).detail


def test_a_sequence_is_put_into_its_recurrence() -> None:
    """2^T is doubled from one to the next and starts at 1."""
    doubled = OnlySolution(lambda x: [x.subs(T, T + 1) - 2 * x, x.subs(T, 0) - 1], "there is one such sequence")
    chain = Chain(eps, Step("=", STATEMENT, because=doubled))
    assert proves(chain, claim(Eq(eps, 2**T)))
    for wrong in (3**T, 2 * 2**T, 2**T + T):
        assert not proves(chain, claim(Eq(eps, wrong)))
    itself = OnlySolution(lambda x: [x.subs(beta, v**2) - 1 / (2 - v**2)], "ε is that, in other letters")
    assert (
        "in other letters"
        in run(Chain(eps, Step("=", STATEMENT, because=itself)), claim(Eq(eps, 1 / (2 - beta)))).figure
    )


def test_equations_must_say_something_of_the_solution(known) -> None:
    about = claim(Eq(eps, 1 / (2 - beta)))
    nothing = Chain(eps, Step("=", STATEMENT, because=OnlySolution(lambda x: [0 * beta], "ε solves 0 = 0")))
    assert "say nothing" in run(nothing, about).detail
    itself = Chain(eps, Step("=", STATEMENT, because=OnlySolution(lambda x: [x - 1 / (2 - beta)], "ε is that")))
    assert "in other letters" in run(itself, about).figure
    rate = known(claim(Rate(noise_norm2, L - Delta), number=1))
    chain = Chain(Delta, Step("<=", because=Rearranged(rate)), Step("<=", STATEMENT))
    with pytest.raises(InvalidInput, match="no number"):
        run(chain, claim(Le(Delta, 2 * L)))


# One coordinate, roots, minima -------------------------------------------------------------------
def test_one_coordinate_speaks_for_quadratic_forms_only():
    """⟨x, y⟩² = ‖x‖²‖y‖² holds on a line and nowhere else."""
    slack = Slack(given={"‖x‖²‖y‖² ≤ D²": D**2 - (x * y) ** 2}, seen=[L])
    chain = Chain(excess_risk, Step("=", x**2 * y**2, because=fact), Step("<=", STATEMENT, because=slack))
    assert "no quadratic form" in run(chain, claim(Le(excess_risk, D**2 + L))).detail


def test_roots_of_squares_are_absolute_values():
    chain = Chain(
        excess_risk, Step("=", L * sympy.sqrt(x**2) + D, because=fact), Step("=", L * x + D), Step("<=", STATEMENT)
    )
    assert not proves(chain, claim(Le(excess_risk, 2 * L + 2 * D)))


def test_a_minimum_is_of_something_that_moves():
    for of in (L + D, L + T, L * D):
        chain = Chain(T, Step("=", L + 2 * D, because=Minimiser(of)), Step("<=", STATEMENT))
        assert not proves(chain, claim(Le(T, 2 * L + 3 * D)))
    best = Chain(T, Step("=", L / D, because=Minimiser(D * T / L + L / (D * T))), Step("<=", STATEMENT))
    assert proves(best, claim(Le(T, 2 * L / D)))
