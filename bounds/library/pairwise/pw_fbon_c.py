"""OnPairC with a buffer (dwang20, section 3.3.2, Algorithm 3.3.13, Theorem 3.3.4, its last sentences).

Solver: dpcheck/solvers/pairwise/pw_fbon_c.py.
"""

from sympy import Eq, Le, Rational, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import delta, eps, n
from dpcheck.bounds.library.pairwise.pw_fbon_strc import buffer_mean, buffer_regret, buffered
from dpcheck.bounds.library.pairwise.pw_giga import alpha
from dpcheck.bounds.library.pairwise.pw_on_c import (
    G_tilde,
    convex_cost,
    convex_noise,
    convex_noise_alone,
    convex_noise_is_most,
    convex_regret,
    convex_terms,
    explicit3,
    fourth_root,
    perturbed,
    product,
    small_set,
    squared_constants,
)
from dpcheck.bounds.library.pairwise.pw_on_strc import CLEAN, LITERAL, NOISE, per_record, rounds, scaled
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

theorem4_privacy = Claim(
    id="dwang20.theorem3.3.4.convex.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 3.3.4, first sentence, Algorithm 3.3.13", line=2209),
    says="The whole sequence of outputs is (ε, δ)-private, even to who knows which places the buffer took.",
    assumes=[*(h for h in perturbed if h is not CLEAN), LITERAL, *buffered, eps <= 1],
    states=Eq(scaled, convex_noise),
    guarantee=ApproxDP(eps, delta),
    checks=[
        Accountant(
            Release(8 * G_tilde / alpha, Gaussian(scaled), steps=rounds),
            "from equal points a step moves t·w_t by (t-1)/(t-2)·4G/α at most, T₁ ≥ 7",
        )
    ],
)

explicit4 = Claim(
    id="dwang20.theorem3.3.4.convex.explicit", kind=Kind.UTILITY,
    source=Source("dwang20", "proof of Theorem 3.3.4, its last sentence; L + α‖C‖₂ there is L + α", line=2579),
    says="Average regret on the pairs of the buffer for any α, with probability 1-γ; γ is the document's ζ.",
    assumes=[*explicit3.assumes, *buffered, n >= 2],
    states=Le(buffer_mean, convex_terms / (n - 1)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            buffer_mean,
            Step("=", buffer_regret / (n - 1), because=Premise("by its name"), uses=buffered),
            Step("<=", because=Cites("dwang20.theorem3.3.3.explicit", {convex_regret: buffer_regret})),
            Step("=", STATEMENT),
        )
    ],
)

theorem4 = Claim(
    id="dwang20.theorem3.3.4.convex", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 3.3.4, (3.113) for convex losses, α = n^(-1/4)", line=2259),
    says="Average regret on the pairs of the buffer, with probability 1-γ; γ is the document's ζ.",
    assumes=[*explicit4.assumes, fourth_root],
    added=convex_noise_is_most,
    states=Rate(buffer_mean, product / n ** Rational(1, 4)),
    ignores_units=True,
    checks=[
        Chain(
            buffer_mean,
            Step("<=", because=Cites("dwang20.theorem3.3.4.convex.explicit")),
            Step("<=", 2 * convex_terms / n, because=per_record(convex_terms)),
            Step("<=", 2 * (NOISE + 1) * convex_cost / n, because=convex_noise_alone(2 / n)),
            Step("<=", 8 * (NOISE + 1) * product * sqrt(n) / (alpha * n), because=squared_constants(2 / n),
                 uses=[small_set]),
            Step("=", 8 * (NOISE + 1) * STATEMENT),
        )
    ],
)
