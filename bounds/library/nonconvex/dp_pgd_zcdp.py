"""DP-PGD's other noise, by zCDP, and what Remark 1 (4.1.1) says of it and of the choice of the output.

Step 3 of Algorithm 1 (4.1.16) of wangxu19 (dwang20, section 4.1.1). Solver: dpcheck/solvers/nonconvex/dp_pgd.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Eq, Gt, Le, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Effort, Evidence, Kind, Setting, Source, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP
from dpcheck.bounds.language.symbols import L, T, delta, eps, eps_out, n, ratio
from dpcheck.bounds.library.convex.variance_reduction import G, L_s, sigma_n
from dpcheck.bounds.library.nonconvex import rrpsgd
from dpcheck.bounds.library.nonconvex.dp_pgd import REMARK, released, rho
from dpcheck.bounds.library.nonconvex.stationarity import a, both, extra, losses, seen_in_x_R
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.iterate_accountants import IterateAccountant
from dpcheck.bounds.proving.proofs import AtMost, Equals, Less, Proof, Same, Units

big = Symbol("big", positive=True)
rho_of = (sqrt(eps + a) - sqrt(a)) ** 2
zcdp_noise = G * sqrt(2 * T) * (sqrt(eps + a) + sqrt(a)) / (n * eps)  # 2G²T/(n²ρ), without cancellation
BOX = ("algorithm1", "algorithm4.1.16")
STEP3 = ("Algorithm 1, step 3", "Algorithm 4.1.16, step 3")
AFTER = ("after Remark 1", "after Remark 4.1.1")

# Privacy, by zCDP ----------------------------------------------------------------------------------
solved, solved_dwang = both(
    *BOX,
    ".rho",
    places=STEP3,
    kind=Kind.IDENTITY,
    says="The ρ with ρ + 2√(ρ·ln(1/δ)) = ε, as the text solves it (the copy at hand drops the root over ln(1/δ)+ε).",
    states=Eq(rho, rho_of),
    checks=[
        Proof(
            [
                Same("it solves the equation", rho_of + 2 * (sqrt(eps + a) - sqrt(a)) * sqrt(a), eps),
                Less("its root √ρ is the positive one: √a ≤ √(a+ε)", big, big + eps),
            ]
        )
    ],
)

box_noise, box_noise_dwang = both(
    *BOX,
    ".noise",
    places=STEP3,
    kind=Kind.PRIVACY,
    says="σ² = 2L²T/(n²ρ²) with ρ + 2√(ρ·ln(1/δ)) = ε makes DP-PGD (ε, δ)-private, L being the smoothness.",
    assumes=losses,
    states=Eq(sigma_n, L_s * sqrt(2 * T) / (n * rho_of)),
    guarantee=ApproxDP(eps, delta),
    checks=[IterateAccountant(seen_in_x_R, "gradients of size G, whatever the smoothness; x_R seen"), Units()],
)

box_read, box_read_dwang = both(
    *BOX,
    ".noise.lipschitz",
    places=STEP3,
    kind=Kind.PRIVACY,
    says="The same, read with G for L: σ² = 2G²T/(n²ρ²).",
    assumes=losses,
    states=Eq(sigma_n, G * sqrt(2 * T) / (n * rho_of)),
    guarantee=ApproxDP(eps, delta),
    checks=[IterateAccountant(seen_in_x_R, "where ρ > 1 its square makes the noise too small; x_R seen")],
)

box_corrected, box_corrected_dwang = both(
    *BOX,
    ".noise.corrected",
    places=STEP3,
    kind=Kind.PRIVACY,
    says="σ² = 2G²T/(n²ρ), for every ε and δ: each step is 2G²/(n²σ²)-zCDP.",
    assumes=losses,
    states=Eq(sigma_n, zcdp_noise),
    guarantee=ApproxDP(eps, delta),
    cites={"dwang20": [Cites(f"dwang20.lemma2.1.{part}") for part in ("8", "9.corrected", "10")]},
    checks=[Accountant(released, "T full gradients, each 2G/n apart")],
)

text_noise, text_noise_dwang = both(
    *REMARK,
    ".noise",
    places=AFTER,
    kind=Kind.PRIVACY,
    says="σ² = 2L²T/(n²ρ), as the text has it, L being the smoothness.",
    assumes=losses,
    states=Eq(sigma_n, L_s * zcdp_noise / G),
    guarantee=ApproxDP(eps, delta),
    checks=[IterateAccountant(seen_in_x_R, "gradients of size G, whatever the smoothness; x_R seen"), Units()],
)

text_corrected, text_corrected_dwang = both(
    *REMARK,
    ".noise.corrected",
    places=AFTER,
    kind=Kind.IDENTITY,
    says="With G for L it is the corrected noise of the algorithm: 2G²T/(n²ρ).",
    assumes=losses,
    states=Eq(sigma_n, zcdp_noise),
    checks=[
        Proof(
            [Same("1/√ρ = (√(a+ε)+√a)/ε", (sqrt(eps + big) - sqrt(big)) * (sqrt(eps + big) + sqrt(big)), eps)],
            "both forms of √(2T)·G/(n√ρ)",
        )
    ],
)

taylor, taylor_dwang = both(
    *REMARK, ".taylor", places=AFTER,
    kind=Kind.IDENTITY,
    says="ρ is about ε²/(4·ln(1/δ)) where ε/ln(1/δ) is small: that over ρ is at most 1 + ε/(2·ln(1/δ)).",
    states=Le(ratio, 1 + eps / (2 * a)),
    checks=[
        Proof(
            [
                Same(
                    "with x = ε/a: (√(1+x)+1)²/4 = (2 + x + 2√(1+x))/4",
                    (sqrt(1 + big) + 1) ** 2 / 4, (2 + big + 2 * sqrt(1 + big)) / 4,
                ),
                Less("(1+x) ≤ (1+x/2)², so it is at most 1 + x/2", 1 + big, (1 + big / 2) ** 2),
            ],
            "the approximate noise is always the smaller: by up to 1 + ε/(2·ln(1/δ)) in σ²",
        )
    ],
)

practice, practice_dwang = both(
    *REMARK, ".practice", places=AFTER,
    kind=Kind.IDENTITY,
    says="ε/ln(1/δ) is small in practice, where ε is at most 0.5 and δ = 1/n: at most 1/(2·ln n).",
    assumes=[eps <= Rational(1, 2), n >= 2, Setting("δ = 1/n")],
    states=Le(ratio, 1 / (2 * log(n))),
    checks=[AtMost(eps / log(n), "ε over ln(1/δ)", {eps: 1 / (2 * (1 + extra))})],
    cites={"wangxu19": [Cites("wangxu19.remark1.taylor")], "dwang20": [Cites("dwang20.remark4.1.1.taylor")]},
)

# Noise against noise -------------------------------------------------------------------------------
quoted_composition = 32 * log(1 / delta) * log(T / delta)  # over G²/(n²ε²)

quoted = Claim(
    id="wangxu19.remark1.quoted",
    source=Source("wangxu19", "after Remark 1: σ₁², quoted from zhang17, at G = 1"),
    kind=Kind.IDENTITY,
    says="The variance of the noise in each step of zhang17, Algorithm 2: 32·ln(1/δ)·ln(T/δ)/(n²ε²), T = n².",
    states=Eq(sigma_n, sqrt(quoted_composition.subs(T, n**2)) / (n * eps)),
    ignores_units=True,
    checks=[Equals(rrpsgd.stated_noise.subs(L, 1), "line 4 has 4·ln(3n/δ)·ln(2/δ)/ε² on one record's gradient")],
)

quoted_corrected = Claim(
    id="wangxu19.remark1.quoted.corrected",
    source=Source("wangxu19", "after Remark 1: σ₁²"),
    kind=Kind.IDENTITY,
    says="It is 4·ln(3n/δ)·ln(2/δ)/ε², on the gradient of one random record: no T, and no n below.",
    states=Eq(sigma_n, 2 * sqrt(log(3 * n / delta) * log(2 / delta)) / eps),
    corrects="wangxu19.remark1.quoted",
    ignores_units=True,
    checks=[Equals(rrpsgd.stated_noise.subs(L, 1), "line 4 of zhang17, Algorithm 2")],
    cites=[Cites("zhang17.algorithm2.noise")],
)

less_noise = Claim(
    id="wangxu19.remark1.less_noise",
    source=Source("wangxu19", "after Remark 1: σ₁² and σ₂²"),
    kind=Kind.PRIVACY,
    says="The noise by zCDP, 8T·ln(1/δ), is at most that of advanced composition as quoted, without its T.",
    assumes=[delta <= Rational(1, 2)],
    states=Le(ratio, 1),
    checks=[AtMost(8 * T * a / quoted_composition, "σ² over σ₁², in units of G²/(n²ε²)")],
)

less_noise_corrected = Claim(
    id="wangxu19.remark1.less_noise.corrected",
    source=Source("wangxu19", "after Remark 1"),
    kind=Kind.PRIVACY,
    says="With the factor T that composition brings: at most 1/(4·ln(T/δ)).",
    assumes=[delta <= Rational(1, 2)],
    states=Le(ratio, 1 / (4 * log(T / delta))),
    corrects="wangxu19.remark1.less_noise",
    checks=[AtMost(8 * T * a / (T * quoted_composition), "σ² over σ₁², in units of G²/(n²ε²)")],
)

less_noise_dwang = Claim(
    id="dwang20.remark4.1.1.less_noise",
    source=Source("dwang20", "after Remark 4.1.1, no formula for the other noise"),
    kind=Kind.PRIVACY,
    says="The noise by zCDP is at most that of advanced composition: 64T·ln(5T/(2δ))·ln(2/δ), for its ε ≤ 1, δ ≤ 1/2.",
    assumes=[eps <= 1, delta <= Rational(1, 2)],
    states=Le(ratio, 1),
    checks=[
        Proof(
            [
                Less("(√(a+ε)+√a)² ≤ 4a + 2ε, as 4a(a+ε) ≤ (2a+ε)²", 4 * big * (big + eps), (2 * big + eps) ** 2),
                Less(
                    "2(4a+2ε) ≤ 64·ln 5·ln(2/δ), with ε ≤ 1 and ln(5T/(2δ)) ≥ ln 5",
                    2 * (4 * big + 2 * eps), 64 * log(5) * (big + log(2)), {eps: 1 / (1 + extra)},
                ),
            ],
            "2T(√(a+ε)+√a)²/ε² against (2G/n)²·2·ln(2.5T/δ)/ε₀² with ε₀ = ε/√(8T·ln(2/δ)), a = ln(1/δ)",
        )
    ],
)

moments, moments_dwang = both(
    *REMARK, ".moments", places=AFTER,
    kind=Kind.PRIVACY,
    says="The noise by zCDP is at most that of the moments accountant, whose orders λ are whole numbers.",
    states=Le(ratio, 1),
    checks=[
        Proof(
            [
                Same(
                    "the moment λ(λ+1)ρ - λε is least at λ = (ε-ρ)/(2ρ), where it is -(ε-ρ)²/(4ρ)",
                    (lambda x: x * (x + 1) * rho - x * eps)((eps - rho) / (2 * rho)), -((eps - rho) ** 2) / (4 * rho),
                ),
                Same(
                    "which is -ln(1/δ) at ρ + 2√(ρ·ln(1/δ)) = ε", ((eps - rho) ** 2 / (4 * rho)).subs(
                        eps, rho + 2 * sqrt(rho * big)), big,
                ),
            ],
            "the best real order gives the zCDP noise itself: whole orders can only cost more, and tend to the same",
        )
    ],
)


# The choice of the output --------------------------------------------------------------------------
@dataclass(frozen=True)
class CoveredByTranscript:
    """A choice that is a function of released iterates leaks no more than they do, which is computed exactly."""

    because: str
    at: Mapping[str, float]
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.replay(claim, self.at)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        numbers = {str(s): float(point[str(s)]) for s in (eps, delta, n, T)}
        noise = box_corrected.evaluate(**numbers, G=1.0)
        seen = GaussianDP(2 * numbers["T"] ** 0.5 / (numbers["n"] * float(noise))).epsilon(numbers["delta"])
        verdict = Verdict.REFUTED if seen < numbers["eps"] else Verdict.UNCHECKED
        figure = f"all T+1 iterates together have ε = {seen:.4g}, claimed more than {numbers['eps']:g}"
        return Evidence(self.kind, verdict, figure, self.because, counterexample=dict(point))


minimum, minimum_dwang = both(
    *REMARK,
    ".minimum",
    kind=Kind.PRIVACY,
    says="With the R of the least ‖g_C,k‖, g_C,k = (x_k-x_(k+1))/γ, the output is not (ε, δ)-private.",
    assumes=losses,
    states=Gt(eps_out, eps),
    guarantee=ApproxDP(eps, delta),
    checks=[
        CoveredByTranscript(
            "g_C,k is made of released iterates: choosing by it is post-processing of what the noise covers",
            {"eps": 1.0, "delta": 1e-3, "n": 100.0, "T": 50.0},
        )
    ],
)

minimum_corrected, minimum_corrected_dwang = both(
    *REMARK,
    ".minimum.corrected",
    kind=Kind.PRIVACY,
    says="It is the R of the least exact ‖P_C(x_k, ∇F(x_k), γ)‖ that breaks the guarantee.",
    assumes=losses,
    states=Gt(eps_out, eps),
    guarantee=ApproxDP(eps, delta),
)
