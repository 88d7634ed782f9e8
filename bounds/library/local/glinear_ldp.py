"""Any 1-Lipschitz convex loss of y⟨w,x⟩ from noisy copies (dwang20, section 5.1.4, Algorithm 5.1.34, Theorem 5.1.9).

The reports are those of Algorithm 5.1.33. f is a mean of |θ-s| over a law Q of kinks s, which the server
draws: for every factor anew, although the proof takes one s for all. Solver, which needs no draws:
dpcheck/solvers/local/glinear_ldp.py.
"""

from sympy import Eq, Expr, Rational, Symbol, integrate

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
    assumes=[copies >= 2, eps <= 1],  # d = 32/α³
    states=Eq(sigma, first_noise),
    guarantee=ApproxDP(eps, delta, relation=LOCAL),
    ignores_units=True,
    checks=[account],
)

# A product of two factors (θ-s_k)/2 at θ, f(θ) = θ²/2: Q is uniform on [-1, 1].
theta = quantity("margin_theta", "margin y⟨w,x⟩", box=(1e-3, 1.0), printed="θ", latex=r"\theta")
second_power = quantity("second_power", "mean of the product of two factors over s", printed="E t_2", latex=r"E\,t_2")
s1, s2 = Symbol("s1", real=True), Symbol("s2", real=True)
uniform = [Setting("f(θ) = θ²/2, so that Q is uniform on [-1, 1]")]
intended = (theta**2 + Rational(1, 3)) / 4  # E ((θ-s)/2)² with one s


def mean_product(shared: bool) -> Expr:
    """E (θ-s₁)(θ-s₂)/4, integrated over the law of the kinks."""
    if shared:
        return integrate(((theta - s1) / 2) ** 2 / 2, (s1, -1, 1))
    return integrate(integrate((theta - s1) * (theta - s2) / 16, (s1, -1, 1)), (s2, -1, 1))


drawn = Claim(
    id="dwang20.theorem5.1.9.oracle", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.9, E_s Ĝ, with line 13 of Algorithm 5.1.34", line=5509),
    says="The factors of Algorithm 5.1.34, each with an s of its own, average to the power of ((θ-s)/2) with one s.",
    assumes=uniform,
    states=Eq(second_power, intended),
    checks=[Equals(lambda: mean_product(shared=False), "two factors with independent s, integrated")],
)

drawn_corrected = Claim(
    id="dwang20.theorem5.1.9.oracle.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.9, E_s Ĝ", line=5509),
    says="With one s for all factors they do.",
    assumes=[*uniform, Setting("one s is drawn for all factors")],
    states=Eq(second_power, intended),
    corrects="dwang20.theorem5.1.9.oracle",
    checks=[Equals(lambda: mean_product(shared=True), "two factors with the same s, integrated")],
)

# A linear f: Q does not matter, as f'(1) - f'(-1) = 0, and line 19 leaves G = f'(-1).
falls = quantity("linear_fall", "-f'(-1), f linear", box=(1e-3, 1.0), printed="-f'(-1)", latex="-f'(-1)")
record = quantity("record_yx", "yx of a record, p = 1", box=(1e-3, 1.0), printed="yx", latex="yx")
downhill = quantity("downhill", "-E G(w, i, s)", printed="-E G", latex="-E G")
linear = [Setting("f is linear, p = 1, and G is to be the slope of f(ywx) in w")]
SLOPE = "the slope of f(ywx) in w is f'(ywx)·yx"

gradient = Claim(
    id="dwang20.algorithm5.1.34.gradient", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.34, line 19, and the proof of Theorem 5.1.9", line=5127),
    says="To the rest of G, which has a factor y₀x₀, line 19 adds f'(-1) without one.",
    assumes=linear,
    states=Eq(downhill, falls),
    checks=[Equals(falls * record, SLOPE)],
)

gradient_corrected = Claim(
    id="dwang20.algorithm5.1.34.gradient.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.34, line 19, and the proof of Theorem 5.1.9", line=5127),
    says="It takes f'(-1)·y₀x₀.",
    assumes=linear,
    states=Eq(downhill, falls * record),
    corrects="dwang20.algorithm5.1.34.gradient",
    checks=[Equals(falls * record, SLOPE)],
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
    assumes=[first < last],
    states=Eq(represented, here),
    checks=[
        Equals(
            (last - first) / 2 * (2 * share_below - 1) + (last + first) / 2,
            "the derivative of E|θ-s| is Q(s ≤ θ) - Q(s > θ) at all θ but countably many",
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
    cites=[Cites("dwang20.theorem5.1.9.oracle", granted="for one such f")],
)
