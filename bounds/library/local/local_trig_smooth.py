"""Smooth queries from trigonometric features (dwang20, section 5.1.5, Algorithm 5.1.36, Theorem 5.1.11).

A user with x in [-1, 1]^p reports Π cos(v_j arccos x_j) for all v in {0..t-1}^p with Laplace noise. The document's p is
d; x is log(1/β). The features lie in [-1, 1], twice as wide as the b = 1 that is printed for them.
Solver: dpcheck/solvers/local/local_trig_smooth.py.
"""

from sympy import Eq, Integer, exp, log, pi, sin, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import LIKELY, d, eps, gamma, n, quantity, sigma, x_tail
from dpcheck.bounds.library.local.ldp_avg_1d import average_error, b
from dpcheck.bounds.library.local.local_bernstein import h, target_error, users_needed
from dpcheck.bounds.privacy.laws import Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals

degree = quantity("trig_t", "frequencies along an axis", box=(2, 50), integer=True, printed="t", latex="t")
features = degree**d
fine = quantity("trig_gamma", "error of the trigonometric polynomials", box=(1e-4, 1), printed="γ_t", latex=r"\gamma_t")
query_error = quantity("trig_error", "largest error of a smooth query", printed="sup|p̃·c-q|", holds=LIKELY)

# Privacy -------------------------------------------------------------------------------------------
released = Release(2 * (features - 1), Laplace(sigma), relation=LOCAL)  # the feature v = 0 is 1 for everybody
# θ = 0 against 3π/(2t-1) on one axis: Σ cos(vθ') over v < t is (1 - 1/sin(θ'/2))/2
attained = features - degree ** (d - 1) * (1 - 1 / sin(3 * pi / (4 * degree - 2))) / 2

theorem11_privacy = Claim(
    id="dwang20.theorem5.1.11.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.11 with line 9 of Algorithm 5.1.36", line=5241),
    says="LDP-AVG with b = 1 on t^p features, noise of scale t^p/ε on each, is ε-private.",
    assumes=[degree >= 2],
    states=Eq(sigma, features / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    ignores_units=True,
    checks=[
        AtMost(
            attained / sigma,
            "x = (1, ..., 1) against cos(3π/(2t-1)) on one axis: features of range 2 differ by more than 1 on average",
            against=eps,
        )
    ],
)

theorem11_privacy_corrected = Claim(
    id="dwang20.theorem5.1.11.privacy.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.11 with line 9 of Algorithm 5.1.36", line=5241),
    says="With b = 2, the range of the features, it is.",
    assumes=[degree >= 2],
    states=Eq(sigma, 2 * features / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    corrects="dwang20.theorem5.1.11.privacy",
    ignores_units=True,
    checks=[
        AtMost(2 * (features - 1) / sigma, "all but the first, which is 1, lie in [-1, 1]", against=eps, exact=False)
    ],
)

# Accuracy ------------------------------------------------------------------------------------------
smooth = [Setting("f is (h, T)-smooth on [-1, 1]^p; p, h and T are constants")]
noisy = [Setting("features are reported as in Algorithm 5.1.36, with noise of scale 2t^p/ε")]
many, likely = n >= features**2 * x_tail, x_tail >= log(2)

theorem11_error = Claim(
    id="dwang20.theorem5.1.11.error", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 5.1.11, before γ is chosen", line=5551),
    says="All queries err by at most γ, of the polynomials, and the noise of t^p features; with noise for b = 2.",
    assumes=[*smooth, *noisy, many],
    added=[likely, degree >= 2],
    states=Rate(query_error, fine + degree ** (5 * d / 2) * sqrt(x_tail) / (sqrt(n) * eps)),
    ignores_units=True,
    checks=[
        Chain(
            query_error,
            Step("<=", fine + features * average_error, because=Premise(
                "Lemma 5.1.11: a query is within γ of a sum of features, whose coefficients are bounded by a constant"
                " that O() hides, 1 here; all t^p features share β and ε"), uses=[*smooth, *noisy]),
            Step("<=", because=Cites("dwang20.lemma5.1.1.corrected", {
                gamma: exp(-x_tail) / features, eps: eps / features, b: Integer(2)},
                granted="a feature and 1 are a number in [0, 2]")),
            Step("<=", fine + 6 * features**2 * sqrt(2 * features * x_tail) / (sqrt(n) * eps), because=Premise(
                "log(2t^p/β) ≤ 2t^p log(1/β) ≤ n, for β ≤ 1/2 and t ≥ 2"), uses=[many, likely, degree >= 2]),
            Step("<=", 9 * STATEMENT),
        )
    ],
)

best = (sqrt(n) * eps) ** (-2 * h / (5 * d + 2 * h))  # γ = γ^(-5p/(2h))/(√n ε)

theorem11_users = Claim(
    id="dwang20.theorem5.1.11", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.11", line=5243),
    says="Users that answer all smooth queries up to α.",
    assumes=smooth,
    states=Rate(
        users_needed,
        x_tail ** ((5 * d + 2 * h) / (2 * h)) * eps**-2 * target_error ** -((5 * d + 2 * h) / h),
    ),
    ignores_units=True,
    checks=[
        Equals(
            lambda: ((sqrt(x_tail) * best).subs(n, 1) / target_error) ** ((5 * d + 2 * h) / h),
            "√log(1/β)·γ = α at γ = (√n ε)^(-2h/(5p+2h)), where γ and t^(5p/2)/(√n ε) are equal, solved for n",
            uses=smooth,
        )
    ],
    cites=[Cites(theorem11_error.id, granted="n is what the theorem says, t = γ^(-1/h), and γ is γ_t")],
)
