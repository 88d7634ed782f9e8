"""Chains: true ones are proved, and a statement falsified in any way breaks the last link."""

from dataclasses import replace

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_chains import claim, fact, proves, run, v
from sympy import Eq, Ge, Le, Lt, Rational, log

from dpcheck.bounds.language.claim import (
    Cites,
    Kind,
    Rate,
    Setting,
    Verdict,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import (
    D,
    Delta,
    Delta_T,
    L,
    T,
    beta,
    c,
    c1,
    d,
    delta,
    eps,
    eta,
    excess_risk,
    mu,
    n,
    noise_norm2,
    sigma,
)
from dpcheck.bounds.proving import links
from dpcheck.bounds.proving.chains import (
    STATEMENT,
    Cases,
    Chain,
    Premise,
    Slack,
    Step,
)

SYMBOLS = (L, beta, n, D, eps)


# Random chains -------------------------------------------------------------------------------------
powers = st.sampled_from([-2, -1, 0, Rational(1, 2), 1, 2])
monomial = st.builds(
    lambda k, exponents: sympy.Integer(k) * sympy.prod(s**e for s, e in zip(SYMBOLS, exponents, strict=True)),
    st.integers(1, 9),
    st.tuples(*[powers] * len(SYMBOLS)),
)
sums = st.lists(monomial, min_size=1, max_size=3).map(lambda terms: sympy.Add(*terms))


def climbing(parts):
    """subject <= a <= a + b = factored <= a + b + c, the statement."""
    a, b, more = parts
    chain = Chain(
        excess_risk,
        Step("<=", a, because=fact),
        Step("<=", a + b),
        Step("=", sympy.factor(sympy.together(a + b))),
        Step("<=", STATEMENT),
    )
    return chain, claim(Le(excess_risk, sympy.expand(a + b + more)))


@settings(max_examples=25)
@given(st.tuples(sums, sums, sums))
def test_a_true_chain_proves_its_claim_and_names_its_premise(parts):
    chain, about = climbing(parts)
    assume(not links.nearly(parts[0], about.formula))  # the statement in other letters
    found = run(chain, about)
    assert found.verdict is Verdict.PROVED
    assert found.premises == ("known",)
    assert "given: known" in found.shown


@settings(max_examples=12)
@given(st.tuples(sums, sums, sums), st.sampled_from(SYMBOLS), st.sampled_from([Rational(1, 2), Rational(-1, 2)]))
def test_no_falsified_statement_is_proved(parts, symbol, power):
    chain, about = climbing(parts)
    a, formula = sympy.expand(parts[0] + parts[1]), about.formula
    for wrong in (formula / 1000, a / 2):
        assert not proves(chain, replace(about, states=Le(excess_risk, wrong)))
    shrunk = formula * symbol**power  # below a + b somewhere: far enough out in that symbol
    reach = dict.fromkeys(SYMBOLS, 1) | {symbol: 10**14 if power < 0 else Rational(1, 10**14)}
    if symbol != n and (a - shrunk).subs(reach) > 0:
        assert not proves(chain, replace(about, states=Le(excess_risk, shrunk)))
    assert not proves(chain, replace(about, states=Ge(excess_risk, formula)))
    assert not proves(chain, replace(about, states=Eq(excess_risk, formula)))
    assert not proves(chain, replace(about, states=Lt(excess_risk, a)))
    assert not proves(chain, replace(about, states=Le(noise_norm2, formula)))


@settings(max_examples=20)
@given(st.tuples(sums, sums), st.sampled_from(["<=", "="]))
def test_an_equation_needs_equations_all_along(parts, relation):
    a, b = parts
    more = b if relation == "<=" else 0
    chain = Chain(excess_risk, Step(relation, a, because=fact), Step("<=", a + b), Step("<=", STATEMENT))
    assert not proves(chain, claim(Eq(excess_risk, sympy.expand(a + b) + more)))


# What a chain is -----------------------------------------------------------------------------------
def test_directions_compose():
    signs = [("<=", "<=", "<="), ("=", "<=", "<="), ("=", "=", "="), ("<", "<=", "<"), (">=", ">", ">")]
    for first, second, both in signs:
        assert Chain(excess_risk, Step(first, L, because=fact), Step(second, STATEMENT)).relation == both
    with pytest.raises(InvalidInput, match="of one direction"):
        Chain(excess_risk, Step("<=", L, because=fact), Step(">=", STATEMENT))


def test_the_statement_in_other_letters_proves_nothing():
    about = claim(Le(excess_risk, (L + D) ** 2))
    retyped = L**2 + 2 * L * D + D**2
    for steps in ([Step("<=", retyped, because=fact)], [Step("<=", retyped / 2, because=fact)]):
        found = run(Chain(excess_risk, *steps, Step("<=", STATEMENT)), about)
        assert found.verdict is Verdict.UNCHECKED
        assert "in other letters" in found.figure


def test_nor_does_the_statement_but_for_a_logarithm():
    """A premise with log(4n) where the statement has 3·log(n), or one inside slack: to assume it is to assume that."""
    about = claim(Le(excess_risk, 3 * L * D * log(n)), [n >= 2])
    for part in (L * D * log(4 * n), L * D * log(n) ** 2 / n**2 + L * D * log(n)):
        chain = Chain(excess_risk, Step("<=", part, because=fact), Step("<=", STATEMENT, where={n: 2 * sympy.exp(v)}))
        assert ("in other letters" in run(chain, about).figure) is not part.is_Add
    about = claim(Le(excess_risk, 3 * L * D))
    for parts, nothing in (({"so": L * D - excess_risk}, True), ({"so": v - excess_risk, "and so": L * D - v}, False)):
        chain = Chain(excess_risk, Step("<=", STATEMENT, because=Slack(parts, seen=[2 * L * D])))
        assert ("in other letters" in run(chain, about).figure) is nothing
        assert proves(chain, about) is not nothing


def test_a_chain_begins_at_the_subject():
    about = claim(Le(excess_risk, L + D))
    assert (
        "the claim is about"
        in run(Chain(noise_norm2, Step("<=", L, because=fact), Step("<=", STATEMENT)), about).figure
    )


def test_hypotheses_are_used_and_missed():
    chain = Chain(excess_risk, Step("<=", eta * L + D, because=fact), Step("<=", STATEMENT))
    about = claim(Le(excess_risk, L / beta + D), [eta <= 1 / beta])
    assert proves(chain, about)
    dropped = run(chain, replace(about, assumes=[]))
    assert dropped.verdict is Verdict.UNCHECKED
    assert "counterexample" in dropped.detail
    assert not proves(chain, replace(about, assumes=[eta <= 2 / beta]))


@pytest.mark.parametrize(
    ("says", "enough"),
    [
        ("F is β-smooth", [smooth(beta)]),
        ("two gradients differ by 2L/n (Lipschitz)", [lipschitz(L)]),
        ("the risk is convex", [strongly_convex(mu)]),
        ("w has modulus α", [Setting("w has modulus α, r convex")]),
        ("Laplacian smoothing is linear", []),
    ],
)
def test_a_premise_uses_no_class_of_losses_that_is_not_assumed(says, enough):
    """A statement without its hypothesis on the losses stayed proved: the premise had it, in words."""
    chain = Chain(excess_risk, Step("<=", eta * L, because=Premise(says)), Step("<=", STATEMENT))
    about = claim(Le(excess_risk, eta * L + D), enough)
    assert proves(chain, about)
    dropped = run(chain, replace(about, assumes=[]))
    assert (dropped.verdict is Verdict.PROVED) == (not enough)
    assert not enough or says in dropped.figure


def test_a_citation_takes_no_step_size_that_is_not_said(known):
    """A bound for the step size 1/β stayed proved of a claim that says nothing of steps."""
    cited = known(claim(Le(excess_risk, L * eta), [smooth(beta)], number=7))
    chain = Chain(excess_risk, Step("<=", because=Cites(cited, {eta: 1 / beta})), Step("<=", STATEMENT))
    about = claim(Le(excess_risk, 2 * L / beta), [smooth(beta), Setting("step size 1/β")])
    assert proves(chain, about)
    unsaid = run(chain, replace(about, assumes=[smooth(beta)]))
    assert unsaid.verdict is Verdict.UNCHECKED
    assert "step size" in unsaid.detail


@pytest.mark.parametrize(
    "words", ["step size 3/β", "step size 1/L", "step sizes that are public", "η ≤ 1/β", "step size"]
)
def test_a_citation_takes_the_step_size_that_is_said(known, words):
    """A bound for the step size 1/β stayed proved of steps of 3/β: any word on steps was enough."""
    cited = known(claim(Le(excess_risk, L * eta), [smooth(beta)], number=7))
    chain = Chain(excess_risk, Step("<=", because=Cites(cited, {eta: 1 / beta})), Step("<=", STATEMENT))
    about = claim(Le(excess_risk, 2 * L / beta), [smooth(beta), Setting(words)])
    assert run(chain, about).verdict is Verdict.UNCHECKED
    for said in ("w₀ = 0, step size 1/β, any n", "step size min(1/β, D/(L√n))", "case 2: n = 3, η = 1/β"):
        assert proves(chain, replace(about, assumes=[smooth(beta), Setting(said)]))


def test_a_premise_chooses_no_number_of_steps_that_is_not_said():
    """A bound for T = log X steps stayed proved of a claim that says nothing of T."""
    chain = Chain(excess_risk, Step("<=", eta * L, because=Premise("e^-T ≤ η for T = log(1/η)")), Step("<=", STATEMENT))
    about = claim(Le(excess_risk, eta * L + D), [Setting("T = log(1/η) steps")])
    assert proves(chain, about)
    assert "what T is" in run(chain, replace(about, assumes=[])).figure
    assert proves(chain, replace(about, assumes=[Eq(T, log(1 / eta)), eta < 1]))


def test_convex_losses_need_not_be_strongly_so():
    chain = Chain(excess_risk, Step("<=", eta * L, because=Premise("F is strongly convex")), Step("<=", STATEMENT))
    assert not proves(chain, claim(Le(excess_risk, eta * L + D), [convex()]))


def test_a_substitution_must_reach_every_value_allowed():
    chain = Chain(
        excess_risk, Step("<=", eta * L + D, because=fact), Step("<=", STATEMENT, where={eta: 1 / (2 * beta * (1 + v))})
    )
    wide = claim(Le(excess_risk, L / beta + D), [eta <= 1 / beta])
    assert "which is not assumed" in run(chain, wide).detail
    assert proves(chain, replace(wide, assumes=[eta <= 1 / (2 * beta)]))


def test_a_box_certifies_on_that_box():
    low = {delta: (1e-6, 0.4)}
    chain = Chain(
        excess_risk, Step("<=", L * log(2 / delta), because=fact), Step("<=", STATEMENT, box=low | {L: (0.1, 10.0)})
    )
    found = run(chain, claim(Le(excess_risk, L * (log(9 / delta**2) + delta)), [delta <= Rational(2, 5)]))
    assert found.verdict in (Verdict.CERTIFIED, Verdict.PROVED)
    rough = Chain(
        excess_risk, Step("<=", sympy.exp(-eps) + eps, because=fact), Step("<=", STATEMENT, box={eps: (0.5, 2.0)})
    )
    on_box = run(rough, claim(Le(excess_risk, sympy.sqrt(1 + eps**2) + Rational(1, 2))))
    assert on_box.verdict is Verdict.CERTIFIED
    assert "[0.5, 2]" in on_box.figure


def test_exponentials_stand_in_the_order_of_their_exponents():
    chain = Chain(excess_risk, Step("<=", 3 * sympy.exp(-L), because=fact), Step("<=", STATEMENT))
    assert proves(chain, claim(Le(excess_risk, 3 * sympy.exp(-L / (1 + D)))))
    assert not proves(chain, claim(Le(excess_risk, 3 * sympy.exp(-L * (1 + D)))))
    assert not proves(chain, claim(Le(excess_risk, 2 * sympy.exp(-L / (1 + D)))))


def test_logarithms_come_apart():
    chain = Chain(excess_risk, Step("<=", L * log(2 / delta), because=fact), Step("<=", STATEMENT))
    about = claim(Le(excess_risk, L * (2 + D) * log(1 / delta)), [delta <= Rational(1, 2)])
    assert proves(chain, about)
    assert not proves(chain, replace(about, assumes=[]))


# Citations -----------------------------------------------------------------------------------------
def test_a_minimum_is_at_most_the_harmonic_mean() -> None:
    least = sympy.Min(1, n * D)
    assert links.at_most(least, 2 * n * D / (1 + n * D), []).holds
    assert links.at_most(least, Rational(3, 2) * n * D / (1 + n * D), []).holds is False
    assert links.above_minima(1 / least) is None  # it falls with the minimum


def test_a_citation_brings_its_formula_and_asks_for_its_hypotheses(known):
    lemma = known(claim(Le(noise_norm2, d * sigma**2), [sigma <= 1], number=1))
    chain = Chain(
        excess_risk,
        Step("<=", beta * noise_norm2 / 2 + D, because=fact),
        Step("<=", because=Cites(lemma, {sigma: L / n})),
        Step("<=", STATEMENT),
    )
    about = claim(Le(excess_risk, beta * d * L**2 / n**2 + D), [n >= L])
    found = run(chain, about)
    assert found.verdict is Verdict.PROVED
    assert found.rests == (lemma,)
    assert f"{lemma} needs" in run(chain, replace(about, assumes=[])).detail
    assert not proves(chain, replace(about, states=Le(excess_risk, beta * d * L**2 / n**2 / 3 + D)))


def test_a_citation_is_used_in_its_own_direction(known):
    lemma = known(claim(Le(noise_norm2, d * sigma**2), number=1))
    falling = Chain(
        excess_risk,
        Step("<=", D / noise_norm2, because=fact),
        Step("<=", because=Cites(lemma)),
        Step("<=", STATEMENT),
    )
    found = run(falling, claim(Le(excess_risk, D / (d * sigma**2))))
    assert "no <= follows" in found.detail
    rising = Chain(
        excess_risk, Step(">=", D / noise_norm2, because=fact), Step(">=", because=Cites(lemma)), Step(">=", STATEMENT)
    )
    assert proves(rising, claim(Ge(excess_risk, D / (d * sigma**2) / 2)))
    elsewhere = Chain(excess_risk, Step("<=", D, because=fact), Step("<=", because=Cites(lemma)), Step("<=", STATEMENT))
    assert "does not stand there" in run(elsewhere, claim(Le(excess_risk, 2 * D + L))).detail


def test_hypotheses_in_words_may_be_granted_and_are_then_named(known):
    lemma = known(claim(Le(noise_norm2, d * sigma**2), [lipschitz(L, "near 0"), Setting("w₀ = 0")], number=1))
    steps = [Step("<=", 2 * noise_norm2, because=fact)]
    about = claim(Le(excess_risk, 3 * d * sigma**2), [lipschitz(L, "in a ball")])
    assert not proves(Chain(excess_risk, *steps, Step("<=", because=Cites(lemma)), Step("<=", STATEMENT)), about)
    granted = Cites(lemma, granted="runs from 0 stay in the ball")
    chain = Chain(excess_risk, *steps, Step("<=", because=granted), Step("<=", STATEMENT))
    assert "runs from 0 stay in the ball" in run(chain, about).premises
    assert not proves(chain, replace(about, assumes=[convex()]))  # the class itself is not granted


def test_a_claims_chains_bring_its_citations():
    cites = Cites("zhang17.lemma5")
    chain = Chain(excess_risk, Step("<=", because=cites), Step("<=", STATEMENT))
    assert claim(Le(excess_risk, L), checks=[chain]).cites == [cites]


# Noise ---------------------------------------------------------------------------------------------
def test_noise_that_is_enough(known):
    mechanism = claim(Eq(sigma, Delta / eps), kind=Kind.PRIVACY, guarantee=PureDP(eps), number=1)
    lemma = known(claim(Le(Delta_T, 3 * L / n), [smooth(beta)], number=2))
    known(mechanism)
    chain = Chain(Cites(mechanism.id, {Delta: Delta_T}), Step("<=", because=Cites(lemma)), Step("<=", STATEMENT))
    about = claim(Eq(sigma, 4 * L / (n * eps)), [smooth(beta)], kind=Kind.PRIVACY, guarantee=PureDP(eps))
    assert proves(chain, about)
    assert not proves(chain, replace(about, states=Eq(sigma, 2 * L / (n * eps))))
    assert not proves(chain, replace(about, guarantee=PureDP(eps / 2)))
    assert not proves(chain, replace(about, guarantee=ApproxDP(eps, delta)))
    assert not proves(chain, replace(about, assumes=[]))


# Rates and constants -------------------------------------------------------------------------------
def test_a_rate_ends_in_a_number_times_the_statement():
    about = claim(Rate(excess_risk, L * d / n))
    steps = [Step("<=", L * (d + 1) / n + L / n, because=fact)]
    assert proves(Chain(excess_risk, *steps, Step("<=", 3 * STATEMENT)), about)
    assert not proves(Chain(excess_risk, *steps, Step("<=", 2 * STATEMENT)), about)
    assert "not in the statement" in run(Chain(excess_risk, *steps, Step("<=", 3 * d * STATEMENT)), about).figure
    assert not proves(
        Chain(excess_risk, *steps, Step("<=", 3 * STATEMENT)), replace(about, states=Rate(excess_risk, L / n))
    )
    explicit = claim(Le(excess_risk, L * d / n))
    assert "not in the statement" in run(Chain(excess_risk, *steps, Step("<=", 3 * STATEMENT)), explicit).figure
    below = claim(Rate(excess_risk, L * d / n, below=True))
    assert not proves(Chain(excess_risk, *steps, Step("<=", 3 * STATEMENT)), below)


def test_constants_that_are_said_to_exist_are_chosen():
    about = claim(Le(excess_risk, c * L / n), [eps <= c1], hidden=[c, c1])
    steps = [Step("<=", L * (1 + eps) / n, because=fact), Step("<=", STATEMENT)]
    assert "no number is chosen" in run(Chain(excess_risk, *steps), about).figure
    assert proves(Chain(excess_risk, *steps, choosing={c: 3, c1: 2}), about)
    assert not proves(Chain(excess_risk, *steps, choosing={c: 3, c1: 4}), about)
    with pytest.raises(InvalidInput, match="numbers"):
        run(Chain(excess_risk, *steps, choosing={c: n, c1: 1}), about)


# Cases ---------------------------------------------------------------------------------------------
def by_cases(split, *bounds):
    chains = [Chain(excess_risk, Step("<=", b, because=fact), Step("<=", STATEMENT)) for b in bounds]
    return Cases(dict(zip(split, chains, strict=True)))


def test_all_cases_must_hold_and_cover():
    about = claim(Le(excess_risk, L + D))
    small, large = eps * L, D / eps
    assert proves(by_cases([eps <= 1, eps > 1], small, large), about)
    assert not proves(by_cases([eps <= 1, eps > 1], small, small), about)
    left_out = run(by_cases([eps <= 1, eps >= 2], small, large), about)
    assert left_out.verdict is Verdict.UNCHECKED
    assert "leave out" in left_out.figure
    assert proves(by_cases([eps <= 1, eps > 1], small, large), replace(about, assumes=[eps <= 5]))


# Attacks -------------------------------------------------------------------------------------------
u = sympy.Symbol("u", nonnegative=True)
x, y = sympy.symbols("x y", real=True)


def test_a_difference_taken_as_given_is_the_statement_assumed():
    chain = Chain(excess_risk, Step("=", L + D, because=fact), Step("<=", STATEMENT, because=Slack({"so": 2 * D - L})))
    assert "in other letters" in run(chain, claim(Le(excess_risk, 3 * D))).figure


def test_substitutions_do_not_tie_symbols_together():
    for where in ({eta: 1 / (1 + v), beta: 1 + v}, {eta: D * u}):
        steps = [Step("<=", eta * beta * L + D * u, because=fact), Step("<=", STATEMENT, where=where)]
        found = run(Chain(excess_risk, *steps), claim(Le(excess_risk, L + D * 2 + eta)))
        assert found.verdict is Verdict.UNCHECKED


def test_hypotheses_beyond_the_table_are_not_taken_for_granted(known):
    """ε ≤ 200 holds wherever the table looks for points, and is nobody's hypothesis."""
    lemma = known(claim(Le(noise_norm2, d * sigma**2), [eps <= 200], number=1))
    chain = Chain(
        excess_risk, Step("<=", 2 * noise_norm2, because=fact), Step("<=", because=Cites(lemma)), Step("<=", STATEMENT)
    )
    about = claim(Le(excess_risk, 3 * d * sigma**2))
    for assumed in ([], [eps <= 500], [n >= 2]):
        assert not proves(chain, replace(about, assumes=assumed))
    assert proves(chain, replace(about, assumes=[eps <= 150]))
    assert not proves(by_cases([eps <= 1, sympy.And(eps > 1, eps <= 150)], L, L), claim(Le(excess_risk, L + D)))


def test_a_constant_of_the_losses_is_not_granted_in_words(known):
    lemma = known(claim(Le(noise_norm2, L**2), [lipschitz(L, "near 0")], number=1))
    steps = [Step("<=", 2 * noise_norm2, because=fact)]
    granted = Cites(lemma, {L: L / 10}, granted="runs stay near 0")
    chain = Chain(excess_risk, *steps, Step("<=", because=granted), Step("<=", STATEMENT))
    assert not proves(chain, claim(Le(excess_risk, L**2), [lipschitz(L)]))


def test_no_constant_is_infinite_or_negative_and_cases_share_it():
    steps = [Step("<=", L * d + D, because=fact)]
    assert not proves(Chain(excess_risk, *steps, Step("<=", sympy.oo * STATEMENT)), claim(Rate(excess_risk, L)))
    about = claim(Le(excess_risk, c * L), [eps <= c1], hidden=[c, c1])
    for wrong in (0, -1, sympy.oo):
        with pytest.raises(InvalidInput, match="positive numbers"):
            run(
                Chain(
                    excess_risk, Step("<=", L * eps, because=fact), Step("<=", STATEMENT), choosing={c: wrong, c1: 1}
                ),
                about,
            )
    two = claim(Le(excess_risk, L), [eps <= c1 * L], hidden=[c1])
    chains = [
        Chain(excess_risk, Step("<=", b, because=fact), Step("<=", STATEMENT), choosing={c1: k})
        for b, k in ((eps, 1), (eps / 2, 2))
    ]
    assert "different constants" in run(Cases(dict(zip([eps <= 1, eps > 1], chains, strict=True))), two).figure


def test_an_equation_about_the_noise_says_nothing_of_privacy():
    chain = Chain(sigma, Step("=", L / eps + L / eps, because=fact), Step("=", STATEMENT))
    about = claim(Eq(sigma, 2 * L / eps), kind=Kind.PRIVACY, guarantee=PureDP(eps))
    assert "not about what is private" in run(chain, about).figure


def test_roots_come_out_where_the_symbols_are_written_so() -> None:
    """√(4β+1) is 2v+1 at β = v(v+1), which reaches every β > 0; β = 1 + v does not, and what is false stays false."""
    root = sympy.sqrt(4 * beta + 1)
    shrink = (2 * beta + 1 - root) / (2 * beta)
    about = claim(Eq(eps, shrink ** (d + 1)))

    def holds(before, where):
        return links.compare(links.Link(before, "=", about.formula, about, where), before, about.formula).holds

    same = shrink**d * (root - 1) / (1 + root)
    assert holds(same, {beta: v * (v + 1)})
    assert not holds(same, {beta: 1 + v})
    assert not holds(2 * same, {beta: v * (v + 1)})


def test_a_step_rests_on_hypotheses_in_words_that_the_claim_has() -> None:
    """The same chain of a claim that says nothing of the records proves nothing, and names what is missing."""
    bounded = Setting("records are bounded")
    chain = Chain(
        excess_risk,
        Step("<=", L * D * log(1 / delta) / n + eta * L**2, because=Premise("known"), uses=[bounded]),
        Step("<=", STATEMENT),
    )
    states = Le(excess_risk, L * D * log(1 / delta) / n + L**2 / beta)
    assert run(chain, claim(states, [bounded, eta <= 1 / beta])).verdict is Verdict.PROVED
    assert "records are bounded" in run(chain, claim(states, [eta <= 1 / beta])).figure
