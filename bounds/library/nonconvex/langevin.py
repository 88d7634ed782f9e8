"""Langevin diffusion and its Gibbs law (dwang20, sections 4.2.1 and 4.2.2): what DP-GLD rests on.

Also here: three wells, 1 - cos w + w²/40 on the line, as a regularised risk of smooth, Lipschitz losses. There every
bound that says "polynomial in β" can be tried, since what the diffusion does is known exactly.
"""

from typing import Any

from sympy import E, Eq, Expr, Ge, Le, Rational, Symbol, exp, log, pi, sqrt, symbols

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source, lipschitz, smooth
from dpcheck.bounds.language.symbols import MEAN, L, c1, c2, d, quantity, ridge
from dpcheck.bounds.proving.chains import STATEMENT, Chain, OnlySolution, Premise, Slack, Step
from dpcheck.bounds.proving.proofs import Equals, NoConstant, Quoted

M = quantity("M", "smoothness of each loss", loss=1, parameter=-2)
heat = quantity("heat", "inverse temperature", loss=-1, box=(1, 1e3), printed="β", latex=r"\beta")
slope = quantity("slope", "F' at a point", loss=1, parameter=-1, printed="∇F", latex=r"\nabla F")
stirring = quantity("stirring", "coefficient of dB", printed="s", latex="s")
entropy = quantity("entropy", "D(μ_t‖π)", printed="D(μ_t‖π)", latex=r"D(\mu_t\|\pi)")
entropy0 = quantity("entropy0", "D(μ_0‖π)", printed="D(μ₀‖π)", latex=r"D(\mu_0\|\pi)")
apart2 = quantity("wasserstein", "2-Wasserstein distance from π", parameter=1, printed="W₂(μ,π)", latex=r"W_2(\mu,\pi)")
lasting = quantity("lasting", "time that the diffusion ran", printed="t", latex="t")
sobolev = quantity("sobolev", "constant of the logarithmic Sobolev inequality", printed="c_LS", latex="c_{LS}")
form = quantity("form", "the Dirichlet form over the integral of |∇g|²", printed="α", latex=r"\alpha")
relaxing = quantity("relaxing", "1 over the uniform spectral gap", printed="1/λ*", latex=r"1/\lambda_*")
inward = quantity("inward", "<w, ∇F(w)>", loss=1, printed="⟨w,∇F⟩", latex=r"\langle w,\nabla F\rangle")
size = quantity("size_w", "norm of w", parameter=1, printed="‖w‖", latex=r"\|w\|")
gibbs_risk = quantity(
    "gibbs_risk", "E F - min F under the Gibbs law", loss=1, printed="E_π F - min F", latex=r"\mathbb{E}_\pi F-\min F",
    holds=MEAN,
)
spread_w = quantity("spread_w", "E ||w||^2 under the Gibbs law", parameter=2, printed="E_π‖w‖²", holds=MEAN)
sigmoid_size = quantity("sigmoid_size", "largest of 4‖∇ℓ‖, 6√3‖∇²ℓ‖ and 2ℓ(0)", printed="max(4‖∇ℓ‖,6√3‖∇²ℓ‖,2ℓ(0))")
poisson = quantity("poisson", "C of (4.45)", printed="C", latex="C")
left = quantity(
    "left", "P(the diffusion has left its well)", box=(1e-3, 0.5), below=1.0, printed="P(left)",
    latex=r"P(\mathrm{left})",
)

ridged = Setting("regulariser λ‖w‖²/2 over ℝᵈ")
regular = [smooth(M), lipschitz(L), ridged]  # Assumption 4.2.1
warm = [heat >= 4 / ridge, heat >= d]
more = Symbol("more", nonnegative=True)
pull = Symbol("pull", real=True)
free_energy, u_start, drift = symbols("z u k", nonnegative=True)
heavy, bump = symbols("h b", positive=True)
disorder = Symbol("H", real=True)

sigmoid = Claim(
    id="dwang20.section4.2.2.sigmoid", kind=Kind.IDENTITY,
    source=Source("dwang20", "after Assumption 4.2.1: sigmoid losses satisfy it", line=3194),
    says="Over all w and rows of norm at most 1 a sigmoid loss has L = 1/4, M = 1/(6√3), A = 1/2: no ratio is above 1.",
    states=Le(sigmoid_size, 1),
    ignores_units=True,
)

# The invariant law ---------------------------------------------------------------------------------
def gibbs_law(number: str, place: str, line: int, says: str, noise: Expr, **more: Any) -> Claim:
    """The coefficient of dB with which e^(-βF) is the invariant law."""
    return Claim(
        id=f"dwang20.equation{number}", source=Source("dwang20", place, line), kind=Kind.IDENTITY, says=says,
        assumes=regular, states=Eq(stirring, noise), ignores_units=True, **more,
    )


no_flux = (
    "the law e^(-βF), finite by the regulariser, is invariant where it has no flux: F'π + (s²/2)π' = 0 on the line, "
    "and so along each axis"
)
still = OnlySolution(lambda s: [slope - s**2 / 2 * heat * slope], no_flux)
by_flux = Chain(stirring, Step("=", STATEMENT, because=still, uses=[ridged]))
equation16 = gibbs_law(
    "4.16", "after (4.16)", 3204, "With √(2/β)·dB the stationary law of the diffusion is the Gibbs measure e^(-βF).",
    sqrt(2 / heat), checks=[by_flux],
)
equation14 = gibbs_law(
    "4.14", "after (4.14)", 3153, "With √2·dB the invariant law of the diffusion is the Gibbs measure e^(-βF).",
    sqrt(2), misprint_of=equation16.id, checks=[Equals(sqrt(2 / heat), no_flux)],
)
equation14_corrected = gibbs_law(
    "4.14.corrected", "after (4.14), with the √(2/β) of (4.16)", 3153, "With √(2/β)·dB, as in (4.16).",
    sqrt(2 / heat), corrects=equation14.id,
    checks=[Chain(stirring, Step("=", STATEMENT, because=Cites(equation16.id)))],
)

decay = Claim(
    id="dwang20.section4.2.1.decay", kind=Kind.UTILITY,
    source=Source("dwang20", "section 4.2.1, the list after the logarithmic Sobolev inequality, 1", line=3146),
    says="How fast the law of the diffusion comes near to its invariant law.",
    assumes=[Setting("π has a logarithmic Sobolev inequality D ≤ 2c·E(√(dμ/dπ))")],
    states=Le(entropy, entropy0 * exp(-2 * lasting / sobolev)),
)

transport = Claim(
    id="dwang20.section4.2.1.transport", kind=Kind.UTILITY,
    source=Source("dwang20", "section 4.2.1, the list after the logarithmic Sobolev inequality, 2", line=3147),
    says="Distance by entropy, where the Dirichlet form is α∫|∇g|² dπ.",
    assumes=decay.assumes,
    states=Le(apart2, sqrt(2 * sobolev * form * entropy)),
    ignores_units=True,
)

lemma1 = Claim(
    id="dwang20.lemma4.2.1", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 4.2.1", line=3163),
    says="The logarithmic Sobolev constant of the Gibbs laws by their spectral gap.",
    assumes=[*regular, Setting("β ≥ O(1)")],
    states=Rate(sobolev, relaxing * (d + heat)),
    ignores_units=True,
    checks=[Quoted("from Raginsky, Rakhlin, Telgarsky (2017), Proposition 3.2: its Lyapunov functions are not here")],
)

# Three wells: F(w) = 1 - cos w + λw²/2 ---------------------------------------------------------------
LAM = Rational(1, 20)
M0 = 1 + LAM  # F'' at most
barrier = 2 - Rational(3, 2) * pi**2 * LAM  # F(π) - F(2π)
kept = LAM * pi**2 / 2  # F is at least this beyond π, and 0 at its minimiser 0
WELLS = "F(w) = 1 - cos w + w²/40 on the line, the risk of equal records with the loss 1 - cos w"
# The weight e^(-βF) within 1/√β on the left of 2π, where F' ≥ 0 at 2π.
second_well = exp(-heat * 2 * pi**2 * LAM) * exp(-M0 / 2) / sqrt(heat)
slack_in_exponent = pi / 4 * sqrt(2 * M0 * heat)
on_wells = Setting(WELLS)


def escapes(time: Expr) -> Expr:
    """P(the diffusion from 2π is beyond π by a time), at most."""
    return exp(-barrier * heat / 2) * (1 + time * M0 / 2 * exp(slack_in_exponent))


stays = Claim(
    id="dwang20.theorem4.2.3.stays", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 4.2.3, for the diffusion (4.16) on three wells", line=3249),
    says="The diffusion from 2π leaves the well around 2π up to a time with at most this probability.",
    assumes=[on_wells],
    states=Le(left, escapes(lasting)),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        Chain(
            left,
            Step("<=", u_start + lasting * drift, because=Premise(
                "Dynkin: u is 1 at π, above 0, and drifts up by at most k; u = e^(β(F-F(π))/2) up to the bottom of the "
                "well, which lies left of 2π, and is constant beyond"), uses=[on_wells]),
            Step("<=", STATEMENT, because=Slack(given={
                "the bottom is no higher than F(2π)": exp(-barrier * heat / 2) - u_start,
                "u drifts by u·(F''-βF'²/2)/2, upwards only where F'' ≥ βF'²/2: there F'' ≤ 1+λ, |F'| ≤ √(2(1+λ)/β), "
                "F ≤ F(2π) + |F'|·π/2 by a tangent":
                    lasting * (M0 / 2 * exp(slack_in_exponent - barrier * heat / 2) - drift),
            }), uses=[on_wells]),
        )
    ],
)

second = exp(-M0 / 2 - Rational(99, 100) * heat)
unavoidable = Claim(
    id="dwang20.lemma4.2.1.unavoidable", kind=Kind.LOWER_BOUND,
    source=Source("dwang20", "Lemma 4.2.1, last sentence", line=3175),
    says="With several local minima the inverse spectral gap grows exponentially with β: there is such a c₁.",
    assumes=[*regular, heat >= 1],
    states=Ge(relaxing, c2 * exp(c1 * heat)),
    hidden=(c1, c2),
    ignores_units=True,
    checks=[
        Chain(
            relaxing,
            Step(">=", heavy / (2 * bump), because=Premise(
                f"{WELLS}: for g = 0 up to π-½, 1 from π+½ on, linear between, Var g ≥ P(w ≤ 0)·P(g = 1); the first is "
                "½, P(g = 1) and ∫|∇g|²dπ are h and b over one constant"), uses=[ridged]),
            Step(">=", STATEMENT, because=Slack(given={
                "e^(-βF) within 1/√β below 2π, where F ≤ 0.99 + (1+λ)/(2β)": (heavy - second / sqrt(heat)) / (2 * bump),
                "F ≥ 1.87 within ½ of π": second / (2 * sqrt(heat)) * (1 / bump - exp(Rational(187, 100) * heat)),
                "√β ≤ e^(β/2)":
                    exp(-M0 / 2) / 2 * (exp(Rational(22, 25) * heat) / sqrt(heat) - exp(Rational(19, 50) * heat)),
            })),
            choosing={c1: Rational(19, 50), c2: exp(-M0 / 2) / 2},
        )
    ],
)

theorem11 = Claim(
    id="dwang20.theorem4.2.11", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 4.2.11, which puts 4.2.9 and 4.2.10 together, for (4.45)", line=3543),
    says="The C that bounds ∇ψ of the Poisson equation by C(1+‖x‖²) is a polynomial of β: there is such a power c₁.",
    assumes=[*regular, *warm],
    states=Rate(poisson, heat**c1),
    hidden=(c1,),
    ignores_units=True,
    checks=[
        NoConstant(
            kept / 2 * exp(heat * (2 + kept)) * second_well / (1 + pi**2),
            {heat: Symbol("k", positive=True), ridge: LAM, d: 1}, Symbol("k", positive=True),
            f"{WELLS}: ψ'(π) = -e^(βF(π))∫(F-E F)e^(-βF) from π on, where F-E F is at least λπ²/4, as E F under the "
            "Gibbs law falls to 0, and the second well weighs that much",
            at=100.0,
        )
    ],
)

# The Gibbs law's own risk ----------------------------------------------------------------------------
dissipative = Claim(
    id="dwang20.theorem4.2.2.dissipative", kind=Kind.IDENTITY,
    source=Source("dwang20", "proof of Theorem 4.2.2: (λ/2, L²/(2λ))-dissipative; also in that of 4.2.4", line=3357),
    says="The gradient of the regularised risk points outwards, far from 0.",
    assumes=regular,
    states=Ge(inward, ridge / 2 * size**2 - L**2 / (2 * ridge)),
    checks=[
        Chain(
            inward,
            Step("=", ridge * size**2 + pull, because=Premise("x = ⟨w, ∇L̂(w)⟩, and the regulariser adds λ‖w‖²"),
                 uses=[ridged]),
            Step(">=", STATEMENT, because=Slack(
                given={"x ≥ -L‖w‖ (Lipschitz)": pull + L * size}, seen=[ridge / 2 * (size - L / ridge) ** 2])),
        )
    ],
)

second_moment = Claim(
    id="dwang20.lemma4.2.2.moment", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 4.2.2, the second moment of the Gibbs law", line=3371),
    says="The mean square of a draw from the Gibbs law.",
    assumes=regular,
    states=Le(spread_w, L**2 / ridge**2 + 2 * d / (ridge * heat)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            spread_w,
            Step("<=", 2 / ridge * inward + L**2 / ridge**2,
                 because=Slack(cited=[(2 / ridge, Cites(dissipative.id, {size: sqrt(spread_w)}))])),
            Step("=", 2 / ridge * (d / heat) + L**2 / ridge**2,
                 because=Premise("E⟨w, ∇F⟩ = d/β under e^(-βF), by parts; what is said of w holds in the mean")),
            Step("=", STATEMENT),
        )
    ],
)

explicit_risk = Claim(
    id="dwang20.lemma4.2.2.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 4.2.2, with the constants that O() hides", line=3371),
    says="The excess risk of a draw from the Gibbs law, by its entropy.",
    assumes=regular,
    states=Le(gibbs_risk, d / (2 * heat) * log(E * heat * (M + ridge) / d * second_moment.formula)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            gibbs_risk,
            Step("=", (disorder - free_energy) / heat,
                 because=Premise("β·E F = H - ln ∫e^(-βF), H the entropy; z is the last, with F - min F for F")),
            Step("<=", d / (2 * heat) * log(E * heat * (M + ridge) / d * spread_w), because=Slack(given={
                "a normal law has the most entropy for its E‖w‖²":
                    (d / 2 * log(2 * pi * E * spread_w / d) - disorder) / heat,
                "F - min F ≤ (M+λ)‖w-w*‖²/2 (smooth)":
                    (free_energy - d / 2 * log(2 * pi / (heat * (M + ridge)))) / heat,
            }), uses=[ridged]),
            Step("<=", because=Cites(second_moment.id)),
            Step("=", STATEMENT),
        )
    ],
)

lemma2 = Claim(
    id="dwang20.lemma4.2.2", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 4.2.2; min over w of the mean risk is above the mean of the minima", line=3371),
    says="The excess risk of a draw from the Gibbs law.",
    assumes=[*regular, *warm],
    added=[Eq(L, 1), Eq(M, 1), Eq(ridge, 1)],
    states=Rate(gibbs_risk, d / heat * log(heat)),
    ignores_units=True,
    checks=[
        Chain(
            gibbs_risk,
            Step("<=", because=Cites(explicit_risk.id)),
            Step("=", explicit_risk.formula.subs(dict.fromkeys((L, M, ridge), 1))),
            Step("<=", d / (2 * heat) * log(9 * heat), because=Premise("2e(β+2d)/d ≤ 9β for β ≥ 4 and β ≥ d ≥ 1")),
            Step("<=", 2 * STATEMENT, where={heat: 4 * exp(more)}),
        )
    ],
)
