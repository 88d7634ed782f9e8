"""What an average of local minimisers is worth (lwang21, sections 6.3.1 and 6.5.1 to 6.5.2), with MPC Out P's noise.

How far it is from the minimiser on all data, how long the noise is, and what both cost in empirical and population
risk. Its privacy: mpc_out_p.py.
"""

import numpy as np
from sympy import Add, Integer, Le, Rational, log

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.symbols import c1, c2, d, delta, eps, gamma, n, noise_norm2, quantity, sigma
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.library.distributed.mpc_out_p import G_2, g_1, g_there, moves
from dpcheck.bounds.library.distributed.several_parties import (
    lam,
    local_losses,
    n_least,
    parties,
    population_excess,
    smooth_losses,
    unit_ball,
)
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Slack, Step
from dpcheck.bounds.proving.exact_values import ExactValue
from dpcheck.bounds.proving.proofs import AtMost, NoConstant

WITH_DELTA = "with probability 1-δ"
off_centre = quantity(
    "off_centre", "distance of the average of local minimisers from the central one", parameter=1, printed="‖θ̂-θ*‖",
    latex=r"\|\hat\theta-\theta^*\|",
)
own_slope = quantity(
    "own_slope", "gradient of a party's mean loss at the central minimiser", loss=1, parameter=-1, printed="‖gⱼ‖",
    latex=r"\|g_j\|",
)
others_slope = quantity(
    "others_slope", "mean gradient of the others' mean losses there", loss=1, parameter=-1, printed="‖g₋ⱼ‖",
    latex=r"\|g_{-j}\|",
)
noise_length = quantity(
    "length_of_noise", "length of the noise", parameter=1, printed="‖η‖", latex=r"\|\eta\|", holds=WITH_DELTA
)
largest_entry = quantity(
    "largest_entry", "largest entry of the noise, or of its length's summands", parameter=1, printed="max|ηᵢ|",
    latex=r"\max|\eta_i|", holds=WITH_DELTA,
)
central_excess = quantity(
    "central_excess", "excess risk of an average of parties over the minimiser on all data", loss=1,
    printed="J(θ_priv) - J(θ*)", latex=r"J(\theta_{priv})-J(\theta^*)", holds=WITH_DELTA,
)
local_excess = quantity(
    "local_excess", "mean of the parties' J~(theta_j) - min J~", loss=1, printed="J̃(θ̂ⱼ) - min J̃",
    latex=r"\tilde J(\hat\theta_j)-\min\tilde J",
)

# How far the average is from the centre -------------------------------------------------------------
# Losses H(θ - xr), H of Huber with slope G and curvature L, r = G/λ + G/L: one party has x = 1 and pulls with G all the
# way, the others have x = 0. With n records a party and any n.
lone_pull = G / (parties * lam) - G / ((parties - 1) * L_s + parties * lam)

theorem5_3 = Claim(
    id="lwang21.theorem6.5.3", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.5.3", line=11510),
    says="The average of the local minimisers is within G(m-1)/(n₍₁₎ λ) of the minimiser on all data.",
    assumes=[*smooth_losses, parties >= 2],
    states=Le(off_centre, G * (parties - 1) / (n_least * lam)),
    checks=[
        AtMost(
            lone_pull,
            "losses H(θ-xr), H of Huber: one party has x = 1, the others 0, all the same number of records",
        )
    ],
    cites=[Cites("lwang21.lemma6.5.2", {g_1: G, g_there: G, G_2: lam})],
)

slopes = Setting(
    "J is the mean of the parties' objectives, own and others' slopes are of mean losses at θ*"
)

theorem5_3_corrected = Claim(
    id="lwang21.theorem6.5.3.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.5.3", line=11510),
    says="Parties of unlike data are up to 2G(m-1)/(mλ) from it, whatever n₍₁₎: a mean of gradients is up to G long.",
    assumes=[
        *local_losses, own_slope <= G, others_slope <= G, slopes,
    ],
    states=Le(off_centre, 2 * G * (parties - 1) / (parties * lam)),
    corrects="lwang21.theorem6.5.3",
    checks=[
        Chain(
            off_centre,
            Step(
                "<=", (parties - 1) * (own_slope + others_slope) / (parties * lam),
                because=Premise(
                    "‖θ̂-θ*‖ ≤ mean ‖θ̂ⱼ-θ*‖; ∇Jⱼ(θ*) = (m-1)/m·(gⱼ-g₋ⱼ), as ∇J(θ*) = 0, and grows by λ (strongly convex)"
                ),
                uses=[slopes],
            ),
            Step("<=", STATEMENT, uses=[unit_ball]),
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
largest_of_them = Claim(
    id="lwang21.lemma6.5.1.largest", kind=Kind.UTILITY,
    source=Source("lwang21", "Lemma 6.5.1", line=11473),
    says="The largest of d exponential variables of scale β is at most β log(d/δ), with probability 1-δ.",
    states=Le(largest_entry, sigma * log(d / delta)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        ExactValue(
            lambda at: -np.log(-np.expm1(np.log1p(-at["delta"]) / at["d"])),
            box={d: (1, 1e4), delta: (1e-10, 0.5)},
            because="the exact quantile: all d are below x with chance (1-exp(-x/β))ᵈ",
            unit={sigma: 1},
        )
    ],
)


def length_of(name: str, says: str, sum_: str, provenance: Provenance) -> Claim:
    """Of noise whose length is at most a sum of d exponential variables."""
    return Claim(
        id=name, kind=Kind.UTILITY,
        source=Source("lwang21", "Lemma 6.5.1", line=11473),
        says=says,
        states=Le(noise_length, d * sigma * log(d / delta)),
        provenance=provenance,
        checks=[
            Chain(
                noise_length,
                Step("<=", d * largest_entry, because=Premise(sum_)),
                Step("<=", because=Cites("lwang21.lemma6.5.1.largest")),
                Step("=", STATEMENT),
            )
        ],
    )


lemma6_5_1 = length_of(
    "lwang21.lemma6.5.1",
    "Noise of density exp(-‖η‖₁/β)/(2β)ᵈ is at most dβ log(d/δ) long; the power of 2β is lost in print.",
    "‖η‖₂ ≤ Σ|ηᵢ|, and the |ηᵢ| are exponential of scale β", Provenance.PRINTED,
)
length_of_l2_noise = length_of(
    "lwang21.lemma6.5.1.l2", "So is noise of density exp(-‖η‖₂/β), for which CM09 has the lemma.",
    "the length has the law of a sum of d exponential variables of scale β", Provenance.CONSEQUENCE,
)

noisy_average = Setting("N is 1-smooth, and η has scale 2G/(m n₍₁₎ λ ε)")
centre = [*smooth_losses, parties >= 2, noisy_average]
printed_rate = G**2 * (lam + L_s) / (n_least**2 * lam**2) * (
    parties**2 + d**2 * log(d / delta) ** 2 / (parties**2 * eps**2) + d * log(d / delta) / eps
)
two_unlike_parties = {
    parties: Integer(2), G: Integer(1), L_s: Integer(1), lam: Integer(1), d: Integer(1), eps: Integer(1),
    delta: Rational(1, 10), n_least: n_least,
}

theorem2 = Claim(
    id="lwang21.theorem6.3.2", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.3.2", line=10930),
    says="The excess empirical risk falls as 1/n₍₁₎², whatever the parties hold.",
    assumes=centre,
    states=Rate(central_excess, printed_rate),
    checks=[
        NoConstant(
            lam / 2 * lone_pull**2, two_unlike_parties, n_least,
            "two parties of unlike data (Theorem 6.5.3): J(θ)-J(θ*) ≥ λ/2·‖θ-θ*‖², and half of all noise moves away",
        )
    ],
    cites=[Cites("lwang21.theorem6.5.3"), Cites("lwang21.lemma6.5.1", {sigma: moves / eps})],
)

relative_noise = d * log(d / delta) / (parties * n_least * eps)
theorem2_corrected = Claim(
    id="lwang21.theorem6.3.2.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.3.2", line=10930),
    says="Beside the noise, of density exp(-‖η‖₂/β), stays what unlike parties cost, which no n₍₁₎ makes small.",
    assumes=[
        *centre, own_slope <= G, others_slope <= G, slopes,
    ],
    states=Rate(central_excess, G**2 * (lam + L_s) / lam**2 * (1 + relative_noise) ** 2),
    corrects="lwang21.theorem6.3.2",
    checks=[
        Chain(
            central_excess,
            Step(
                "<=", (lam + L_s) / 2 * (off_centre + noise_length) ** 2,
                because=Premise("J is (λ+L)-smooth, ∇J(θ*) = 0, and ‖θ_priv-θ*‖ ≤ ‖θ̂-θ*‖ + ‖η‖"),
                uses=[noisy_average],
            ),
            Step("<=", because=Cites("lwang21.theorem6.5.3.corrected")),
            Step("<=", (lam + L_s) / 2 * (2 * G / lam + noise_length) ** 2),
            Step("<=", because=Cites("lwang21.lemma6.5.1.l2", {sigma: moves / eps}), uses=[noisy_average]),
            Step("=", 2 * STATEMENT),
        )
    ],
)

# Population risk: i.i.d. y = 1/4 or -3/4, each with chance 1/2; Huber losses of θ-y with G = 1/4 and L = λ = 1.
# Right of 0 the risk is bent by λ+1/2, left of it by λ alone: local minimisers lie left of it in the mean.
independent = Setting("records are i.i.d.")
theorem3 = Claim(
    id="lwang21.theorem6.3.3", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.3.3", line=10985),
    says="The excess population risk is that of Theorem 6.3.2 and C₂G² log(1/γ)/(λn), n the number of all records.",
    assumes=[*centre, independent],
    added=[n >= parties * n_least],
    states=Le(population_excess, Add(c1 * printed_rate, c2 * G**2 * log(1 / gamma) / (lam * n), evaluate=False)),
    hidden=[c1, c2],
    checks=[
        NoConstant(
            G**2 / (576 * n_least * lam),
            {
                n_least: parties**4, n: parties**5, parties: parties, d: Integer(1), eps: Integer(1),
                G: Rational(1, 4), L_s: Integer(1), lam: Integer(1), delta: Rational(1, 10), gamma: Rational(1, 10),
            },
            parties,
            "i.i.d. y = 1/4 or -3/4, Huber losses: averages of m keep the bias of one, E θ̂ ≤ -(G/6)·E|2p̂-1| ≤ "
            "-G/(6√(2n₍₁₎)), about which they vary by 1/√m of that",
            at=1e4,  # from here on averages are within half of their mean of it with probability 1-γ (Chebyshev)
        )
    ],
    cites=[Cites("lwang21.theorem6.3.2")],
)

theorem3_corrected = Claim(
    id="lwang21.theorem6.3.3.corrected", kind=Kind.UTILITY,
    source=Source("lwang21", "Theorem 6.3.3", line=10985),
    says="An average is as good as one party: log(m/γ)/n₍₁₎ in place of log(1/γ)/n; noise of density exp(-‖η‖₂/β).",
    assumes=[*centre, independent],
    added=[gamma <= Rational(1, 2)],
    states=Rate(
        population_excess,
        G**2 * log(parties / gamma) / (lam * n_least)
        + G**2 * (lam + L_s) * d**2 / (parties * n_least * lam * eps) ** 2,
    ),
    corrects="lwang21.theorem6.3.3",
    checks=[
        Chain(
            population_excess,
            Step(
                "<=", local_excess + (lam + L_s) / 2 * noise_norm2,
                because=Premise("E η = 0 and J̃ is (λ+L)-smooth; J̃ of an average is at most the average of J̃ (convex)"),
                uses=[noisy_average],
            ),
            Step(
                "<=", 16 * G**2 * (32 + log(parties / gamma)) / (lam * n_least) + (lam + L_s) / 2 * noise_norm2,
                because=Premise("Theorem 1 of SSS09 at each of m minimisers, with probability 1-γ/m"),
                uses=[independent, unit_ball],
            ),
            Step("=", because=Cites("zhang17.lemma6", {sigma: moves / eps}), uses=[noisy_average]),
            Step(
                "<=", 528 * STATEMENT,
                because=Slack(
                    {"log(m/γ) ≥ log 4 ≥ 1": 512 * G**2 / (lam * n_least) * (log(parties / gamma) - 1)},
                    seen=[G**2 * (lam + L_s) * (528 * d**2 - 2 * d * (d + 1)) / (parties * n_least * lam * eps) ** 2],
                ),
                uses=[parties >= 2, gamma <= Rational(1, 2)],
            ),
        )
    ],
)
