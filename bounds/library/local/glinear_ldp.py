"""Any 1-Lipschitz convex loss of y⟨w,x⟩ from noisy copies (dwang20, section 5.1.4, Algorithm 5.1.34, Theorem 5.1.9).

The reports are those of Algorithm 5.1.33. f is a mean of |θ-s| over a law Q of kinks s, which the server
draws: for every factor anew, although the proof takes one s for all. Solver, which needs no draws:
dpcheck/solvers/local/glinear_ldp.py.
"""

from sympy import Add, Eq, Expr, Poly, Symbol, diff, prod

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.bounds.language.symbols import c1, d, delta, eps, quantity, sigma
from dpcheck.bounds.library.local.hinge_ldp import SAYS, account, copies, first_noise
from dpcheck.bounds.library.local.local_bernstein import target_error, users_needed
from dpcheck.bounds.proving.proofs import Equals, Quoted

theorem9_privacy = Claim(
    id="dwang20.theorem5.1.9.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.9, first sentence, with lines 3 to 6 of Algorithm 5.1.34", line=5095),
    says=f"{SAYS} for ε at most 1.",
    assumes=[eps <= 1],
    added=[copies >= 2],  # d = 32/α³
    states=Eq(sigma, first_noise),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    ignores_units=True,
    checks=[account],
)

# A product of two factors (θ-s_k)/2, by the moments of Q.
off_mean = quantity("margin_off_mean", "margin y⟨w,x⟩ less the mean of Q", box=(1e-3, 1.0), printed="(θ-E s)")
kinks = quantity("kink_variance", "variance of Q", box=(1e-3, 1.0), printed="Var s")
second_power = quantity("second_power", "mean of the product of two factors over s", printed="E t_2", latex=r"E\,t_2")
s1, s2 = Symbol("s1", real=True), Symbol("s2", real=True)
intended = (off_mean**2 + kinks) / 4  # E ((θ-s)/2)² with one s
one_draw = Setting("one s is drawn for all factors")


def mean_product(shared: bool) -> Expr:
    """E (θ-s₁)(θ-s₂)/4, where the s less their mean have the moments 0 and Var s."""
    terms = Poly((off_mean - s1) * (off_mean - (s1 if shared else s2)) / 4, s1, s2).terms()
    return Add(*(part * prod((1, 0, kinks)[power] for power in powers) for powers, part in terms))


drawn = Claim(
    id="dwang20.theorem5.1.9.oracle", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.9, E_s Ĝ, with line 13 of Algorithm 5.1.34", line=5509),
    says="The factors of Algorithm 5.1.34, each with an s of its own, average to the power of ((θ-s)/2) with one s: "
    "two of them.",
    states=Eq(second_power, intended),
    checks=[Equals(lambda: mean_product(shared=False), "two factors with independent s, multiplied out")],
)

drawn_corrected = Claim(
    id="dwang20.theorem5.1.9.oracle.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.9, E_s Ĝ", line=5509),
    says="With one s for all factors they do.",
    assumes=[one_draw],
    states=Eq(second_power, intended),
    corrects="dwang20.theorem5.1.9.oracle",
    checks=[Equals(lambda: mean_product(shared=True), "two factors with the same s, multiplied out", uses=[one_draw])],
)

# One coordinate of line 19, whose sum has the mean S.
leftmost = quantity("slope_leftmost", "f'(-1)", box=(1e-3, 1.0), printed="f'(-1)")
sum_mean = quantity("oracle_sum", "(f'(1) - f'(-1)) times the mean of the sum in G", box=(1e-3, 1.0), printed="S")
record = quantity("record_yx", "one coordinate of yx of a record", box=(1e-3, 1.0), printed="yx_j")
coordinate = quantity("oracle_coordinate", "one coordinate of the mean of G(w, i, s)", printed="E G_j")
lipschitz_f = [sum_mean + leftmost <= 1]  # f'(θ), of a 1-Lipschitz f
place = Symbol("w", positive=True)
slope = Equals(
    lambda: diff((sum_mean + leftmost) * (record * place), place),
    "F_β'(θ) = S + f'(-1) at θ = y⟨w,x⟩, and G is to be the slope in w",
)

gradient = Claim(
    id="dwang20.algorithm5.1.34.gradient", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.34, line 19, and the proof of Theorem 5.1.9", line=5127),
    says="To the sum, which it multiplies with y₀x₀, line 19 adds f'(-1) without that factor, in every coordinate.",
    assumes=lipschitz_f,
    states=Eq(coordinate, sum_mean * record + leftmost),
    misprint_of="dwang20.algorithm5.1.34.gradient.corrected",
    checks=[slope],
)

gradient_corrected = Claim(
    id="dwang20.algorithm5.1.34.gradient.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.9, ∇F_β(θ) at θ = y⟨w,x⟩, by the chain rule", line=5491),
    says="F_β'(θ) ends in f'(-1), and the slope in w has a factor yx throughout: it takes f'(-1)·y₀x₀.",
    assumes=lipschitz_f,
    states=Eq(coordinate, (sum_mean + leftmost) * record),
    corrects="dwang20.algorithm5.1.34.gradient",
    checks=[slope],
)

first, last, here = (
    quantity(f"slope_{name}", f"f'({at}) + 1, f 1-Lipschitz", box=(1e-3, 2.0), printed=f"1+f'({at})")
    for name, at in (("first", "-1"), ("last", "1"), ("here", "θ"))
)
represented = quantity("represented", "derivative of the right side of Lemma 5.1.9, + 1", printed="1+F'(θ)")
share_below = (here - first) / (last - first)  # Q(s ≤ θ): u is uniform on [f'(-1), f'(1)]

lemma9 = Claim(
    id="dwang20.lemma5.1.9", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.9", line=5084),
    says="f is a mean of |θ-s| over Q and a line, up to a constant: both have the same derivative.",
    added=[first < last],  # f is not a line, of which Q is not defined
    states=Eq(represented, here),
    checks=[
        Equals(
            (last - first) / 2 * (2 * share_below - 1) + (last + first) / 2,
            "the derivative of E|θ-s| is Q(s ≤ θ) - Q(s > θ) at all θ but countably many",
            uses=[first < last],
        )
    ],
)

theorem9 = Claim(
    id="dwang20.theorem5.1.9", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.9", line=5095),
    says="Users that make the expected excess risk at most α, for some constant C that does not depend on f.",
    assumes=[Setting("β = α/4 and d = 2/(β²α)"), eps <= 1],
    states=Rate(users_needed, copies ** (6 * copies) * c1**copies * d / (eps ** (4 * copies + 4) * target_error**2)),
    hidden=[c1],
    ignores_units=True,
    checks=[Quoted("from Theorem 5.1.7, and an oracle that averages to another function than f as printed")],
    cites=[Cites("dwang20.theorem5.1.9.oracle")],
)
