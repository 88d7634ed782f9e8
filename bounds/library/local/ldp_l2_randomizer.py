"""The randomiser of vectors in a ball (dwang20, section 5.3.3, (5.75), after Duchi, Jordan and Wainwright).

A coin b turns x/‖x‖ to the other side with probability 1/2 - ‖x‖/(2r), a coin T sends a point of the half sphere about
that direction or, with probability 1/(e^ε+1), of the other one: the report is on x's own side with probability
(1 + ‖x‖/σ)/2, where σ = r (e^ε+1)/(e^ε-1). Solver: dpcheck/solvers/local/ldp_l2_randomizer.py; for a client,
dpcheck.local.L2Ball.
"""

from sympy import Eq, Integer, Le, Symbol, exp, pi, sqrt
from sympy.functions import gamma as gamma_function

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import d, eps, quantity, sigma
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import HalfSphere
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import Equals, NoConstant

r = quantity("r_ball", "radius of the ball that holds the records", parameter=1, printed="r", latex="r")
sphere = quantity("sphere", "norm of a report that averages to its record", parameter=1, printed="‖R(x)‖")
proxy = quantity(
    "proxy",
    "least s with E exp(t(z - E z)) <= exp(s t^2/2) for every t and coordinate z of a report",
    parameter=2,
    printed="σ²(R(x)_j)",
    latex=r"\sigma^2(\mathcal{R}(x)_j)",
)
x_ = Symbol("x", positive=True)

odds = (exp(eps) + 1) / (exp(eps) - 1)
in_ball = Setting("x in ℝᵖ with ‖x‖₂ ≤ r")

# Privacy -------------------------------------------------------------------------------------------
released = Release(2 * r, HalfSphere(sigma, d), relation=LOCAL)

privacy = Claim(
    id="dwang20.equation5.75.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "(5.75), the ε-LDP randomizer", line=6463),
    says="With T = 1 of probability e^ε/(e^ε+1), a report is ε-private: its side tells of x what a biased coin tells.",
    assumes=[in_ball],
    states=Eq(sigma, r * odds),
    guarantee=PureDP(eps, relation=LOCAL),
    checks=[
        Accountant(
            released, "x and -x of norm r: each side e^ε times as likely under one as under the other", uses=[in_ball]
        )
    ],
)

# What it reports -----------------------------------------------------------------------------------
# u = g/‖g‖ for a normal vector g, so that E|u₁| = E|g₁|/E‖g‖.
mean_norm, mean_size = sqrt(2) * gamma_function((d + 1) / 2) / gamma_function(d / 2), sqrt(2 / pi)
exact_sphere = r * odds * sqrt(pi) * gamma_function((d + 1) / 2) / gamma_function(d / 2)

unbiased = Claim(
    id="dwang20.lemma5.3.1.unbiased", kind=Kind.IDENTITY,
    source=Source("dwang20", "the length of reports above (5.75), with E R(x) = x of Lemma 5.3.1", line=6463),
    says="Reports of length O(r√p) average to x.",
    assumes=[in_ball],
    states=Rate(sphere, r * sqrt(d)),
    misprint_of="dwang20.lemma5.3.1.length",
    checks=[
        NoConstant(
            exact_sphere, {eps: 1 / x_, d: Integer(1), r: Integer(1)}, x_,
            "a report is on x's own side by (e^ε-1)/(e^ε+1) more often than not, which it must be divided by",
        )
    ],
)

unbiased_corrected = Claim(
    id="dwang20.lemma5.3.1.unbiased.corrected", kind=Kind.IDENTITY,
    source=Source("dwang20", "Lemma 5.3.1, E R(x) = x", line=6469),
    says="The length that makes a report average to x is r (e^ε+1)/(e^ε-1) √π Γ((p+1)/2)/Γ(p/2).",
    assumes=[in_ball],
    states=Eq(sphere, exact_sphere),
    corrects="dwang20.lemma5.3.1.unbiased",
    checks=[
        Equals(
            r * odds * mean_norm / mean_size,
            "E R(x) = ‖R(x)‖ (‖x‖/r)(e^ε-1)/(e^ε+1) E|u₁| x/‖x‖ with E|u₁| = E|g₁|/E‖g‖ of a normal vector g",
            uses=[in_ball],
        )
    ],
)

NORM = Premise("Γ((p+1)/2)/Γ(p/2) ≤ √(p/2) (Gautschi)")
ODDS = Premise("e^ε - 1 ≥ ε")

length = Claim(
    id="dwang20.lemma5.3.1.length", kind=Kind.IDENTITY,
    source=Source("dwang20", "Lemma 5.3.1, the length whose p coordinates have its variance O(r²/ε²)", line=6469),
    says="Reports that average to x have length O(r√p/ε), as the lemma's variance has it: ε is lost above (5.75).",
    assumes=[in_ball],
    added=[eps <= 1],
    states=Rate(sphere, r * sqrt(d) / eps),
    corrects="dwang20.lemma5.3.1.unbiased",
    checks=[
        Chain(
            sphere,
            Step("=", because=Cites(unbiased_corrected.id)),
            Step("<=", sqrt(pi / 2) * r * odds * sqrt(d), because=NORM),
            Step("<=", sqrt(pi / 2) * r * (1 + 2 / eps) * sqrt(d), because=ODDS),
            Step("<=", 4 * STATEMENT),
        )
    ],
)

explicit = Claim(
    id="dwang20.lemma5.3.1.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.3.1, with a number and Definition 5.3.6", line=6469),
    says="Each coordinate of a report that averages to x is sub-Gaussian about its mean.",
    assumes=[in_ball],
    added=[eps <= 1],
    states=Le(proxy, 72 * pi * r**2 / eps**2),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            proxy,
            Step("<=", 16 * sphere**2 / d, because=Premise(
                "with a second report z', E exp(t(z-Ez)) ≤ E exp(t(z-z')) ≤ (E exp(t²z²))²; a report's density is at "
                "most twice the uniform one, under which E exp(3pz²/(8‖R‖²)) ≤ 2")),
            Step("=", because=Cites(unbiased_corrected.id)),
            Step("<=", 8 * pi * r**2 * odds**2, because=NORM),
            Step("<=", 8 * pi * r**2 * (1 + 2 / eps) ** 2, because=ODDS),
            Step("<=", STATEMENT),
        )
    ],
)

lemma1 = Claim(
    id="dwang20.lemma5.3.1", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.3.1, with the length that makes it unbiased", line=6469),
    says="Each coordinate of a report is sub-Gaussian with variance O(r²/ε²).",
    assumes=[in_ball],
    added=[eps <= 1],
    states=Rate(proxy, r**2 / eps**2),
    checks=[Chain(proxy, Step("<=", because=Cites(explicit.id)), Step("<=", 72 * pi * STATEMENT))],
)
