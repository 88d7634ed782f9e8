"""A trimmed mean with arsinh-normal noise by its smooth sensitivity (dwang20, section 3.2.4, Algorithm 3.2.6, [51]).

Line 1 takes an upper bound of the smooth sensitivity for the width of the noise; what hides a record must itself be
smooth. Solver: dpcheck/solvers/heavy_tail/ht_trim_arsinh_mean.py.
"""

from sympy import E, Eq, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import ZCDP
from dpcheck.bounds.language.symbols import MEAN, eps, n, quantity
from dpcheck.bounds.privacy.laws import SmoothNoise
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

m = quantity("m_trim", "records trimmed at each end", box=(1, 1e4), integer=True, printed="m", latex="m")
t = quantity("t_smooth", "smoothness of the width of the noise", box=(1e-6, 1e2), printed="t", latex="t")
span = quantity("span_ab", "b - a", parameter=1, printed="(b-a)", latex="(b-a)")
spread = quantity("spread_x", "standard deviation of a number", parameter=1, printed="σ", latex=r"\sigma")
scale = quantity("scale_tr", "noise over its width", printed="1/s", latex="1/s")
width = quantity("width_tr", "S(D)", parameter=1, printed="S(D)", latex="S(D)")
width_other = quantity("width_tr_other", "S(D')", parameter=1, printed="S(D')", latex="S(D')")
width2 = quantity("width_tr2", "E S(D)²", parameter=2, printed="E S²", latex=r"\mathbb{E}S^2", holds=MEAN)
mse = quantity("trim_mse", "E (M(X) - μ)²", parameter=2, printed="E(M-μ)²", latex=r"\mathbb{E}(M-\mu)^2", holds=MEAN)
noise2 = quantity("trim_noise2", "E (S Z/s)²", parameter=2, printed="E(SZ/s)²", latex=r"\mathbb{E}(SZ/s)^2", holds=MEAN)
far = Symbol("x", positive=True)

reals = Setting("numbers of any size, trimmed and cut to [a, b] as Algorithm 3.2.6 has it")
SINH2 = (E**2 - 1) / 2  # E sinh(Y)² of a standard normal Y

# Privacy ---------------------------------------------------------------------------------------------
released = Release(Integer(1), SmoothNoise(scale, t))

privacy = Claim(
    id="dwang20.theorem3.2.3.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.2.3, with Algorithm 3.2.6", line=1502),
    says="With the width max((x_(n)-x_(1))/(n-2m), e^-mt (b-a)) and 1/s = 4/ε it is ε²/2-zCDP, for ε ≤ 1.",
    assumes=[reals, eps <= 1],
    states=Eq(scale, 4 / eps),
    guarantee=ZCDP(eps**2 / 2),
)

MOVES = Setting("log S moves by at most t, the trimmed mean by at most S")
corrected = Claim(
    id="dwang20.theorem3.2.3.privacy.corrected", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.2.3", line=1502),
    says="With a width that is a t-smooth bound on how far a record moves the trimmed mean, t = ε²/16.",
    assumes=[reals, eps <= 1, MOVES],
    states=Eq(scale, 4 / eps),
    guarantee=ZCDP(eps**2 / 2),
    corrects="dwang20.theorem3.2.3.privacy",
    checks=[
        AtMost(
            (sqrt(eps**2 / 16 * (eps**2 / 16 + 3)) + Rational(7, 6) / scale) ** 2 / 2,
            "sinh of a normal, shifted by s and dilated by e^t: (√(t(t+3)) + 7s/6)²/2-zCDP (Bun and Steinke 2019)",
            box={eps: (1e-3, 1)}, exact=False, against=eps**2 / 2, uses=[MOVES],
        )
    ],
)

smooth = Claim(
    id="dwang20.theorem3.2.3.smooth", kind=Kind.SENSITIVITY,
    source=Source("dwang20", "Algorithm 3.2.6, line 1, as it must be", line=1516),
    says="The largest of e^-kt min(b-a, (x_(n-m+1+k)-x_(m-k))/(n-2m)), k < m, and e^-mt (b-a) is t-smooth.",
    assumes=[reals],
    states=Le(width, exp(t) * width_other),
    provenance=Provenance.CONSEQUENCE,
)

# Utility ---------------------------------------------------------------------------------------------
utility = Claim(
    id="dwang20.theorem3.2.3", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.3, with m = O(1) of Algorithm 3.2.6", line=1502),
    says="The mean squared error of Algorithm 3.2.6 is O(σ² log n/(nε²)), with a number m of records trimmed.",
    assumes=[reals, eps <= 1],
    states=Rate(mse, spread**2 * log(n) / (n * eps**2)),
    hidden=[m],
    checks=[
        NoConstant(
            (4 / eps * exp(-m * eps**2 / 16) * span) ** 2 * SINH2,
            {n: far, eps: Integer(1), spread: Integer(1), span: Integer(1)}, far,
            "the noise is never narrower than 4/ε·e^-mt (b-a), which does not fall with n while m does not grow",
        )
    ],
)

trimmed_range, untouched = 4 * n * spread**2 / (n - 2 * m) ** 2, exp(-m * eps**2 / 8) * span**2
DRAWN = Setting("independent numbers of variance σ²")
utility_corrected = Claim(
    id="dwang20.theorem3.2.3.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.2.3, what the noise adds", line=1502),
    says="The noise adds O((σ²n/(n-2m)² + e^(-mε²/8)(b-a)²)/ε²): it takes m of about 8 log(n)/ε² or more.",
    assumes=[reals, n > 2 * m, DRAWN],
    states=Le(noise2, 52 / eps**2 * (trimmed_range + untouched)),
    corrects="dwang20.theorem3.2.3",
    checks=[
        Chain(
            noise2,
            Step("=", 16 / eps**2 * SINH2 * width2, because=Premise("Y is independent, E sinh²Y = (e²-1)/2")),
            Step("<=", STATEMENT, because=Slack(
                {"S² ≤ (x_(n)-x_(1))²/(n-2m)² + e^-2mt (b-a)², and E (x_(n)-x_(1))² ≤ 4 E Σ(x-μ)²":
                    16 / eps**2 * SINH2 * (trimmed_range + untouched - width2)},
                seen=[(52 - 16 * SINH2) / eps**2 * trimmed_range, (52 - 16 * SINH2) / eps**2 * untouched]),
                uses=[reals, DRAWN]),
        )
    ],
)
