"""What Laplacian smoothing does to privacy (lwang21, Remark 5.5.6; lssgd20, Remark 3): nothing."""

from sympy import Eq, Integer, Le, Symbol, sqrt

from dpcheck.bounds.language.claim import Kind
from dpcheck.bounds.language.symbols import quantity, ratio
from dpcheck.bounds.library.nonconvex.dp_lssgd import nu
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import beta_s, both, smoothing
from dpcheck.bounds.proving.proofs import AtMost, Equals, Proof, Same

x = Symbol("x", positive=True)
shift = quantity("ls_shift", "A_σ⁻¹ of a difference of gradients is shift·(1, 0, 0)", printed="s")
length = quantity("ls_length", "‖g‖, or its square where said", printed="‖g‖")
identity, identity_v0 = both(
    "remark5.5.6",
    "remark3",
    kind=Kind.IDENTITY,
    says="‖d‖ + 2σ‖D₊d‖²/dim + σ²‖Ld‖²/dim = ‖g‖ for g = A_σd: here d = s·(1, 0, 0), dim = 3.",
    states=Eq(length, shift + 2 * smoothing * 2 * shift**2 / 3 + smoothing**2 * 6 * shift**2 / 3),
    checks=[Equals(shift * sqrt((1 + 2 * smoothing) ** 2 + 2 * smoothing**2), "g = s·(1+2σ, -σ, -σ)")],
)

angle2 = Symbol("angle2", nonnegative=True)
identity_right, identity_right_v0 = both(
    "remark5.5.6.corrected",
    "remark3.corrected",
    kind=Kind.IDENTITY,
    says="‖d‖² + 2σ‖D₊d‖² + σ²‖Ld‖² = ‖g‖², for the same d.",
    states=Eq(length, shift**2 * ((1 + 2 * smoothing) ** 2 + 2 * smoothing**2)),
    checks=[
        Proof(
            [
                Same(
                    "d = s·(1, 0, 0): ‖D₊d‖² = 2s², ‖Ld‖² = 6s²",
                    shift**2 + 2 * smoothing * 2 * shift**2 + smoothing**2 * 6 * shift**2,
                    shift**2 * ((1 + 2 * smoothing) ** 2 + 2 * smoothing**2),
                ),
                Same(
                    "any d, mode by mode: |e^(iθ)-1|² = t, so that D₊ gives t, L gives t² and A_σ² gives (1+σt)²",
                    1 + 2 * smoothing * angle2 + smoothing**2 * angle2**2,
                    (1 + smoothing * angle2) ** 2,
                ),
            ],
            "Parseval",
        )
    ],
)

stronger, stronger_v0 = both(
    "remark5.5.6.privacy",
    "remark3.privacy",
    kind=Kind.PRIVACY,
    says="With the same noise smoothing gives much stronger privacy: sensitivity over noise falls by √β.",
    assumes=[beta_s < 1],
    states=Le(ratio, sqrt(beta_s)),
    checks=[
        AtMost(Integer(1) + 0 * beta_s, "A_σ⁻¹ is a bijection: it takes the noise along, so nothing is lost or gained")
    ],
)

same_privacy, same_privacy_v0 = both(
    "remark5.5.6.privacy.corrected",
    "remark3.privacy.corrected",
    kind=Kind.PRIVACY,
    says="Privacy is the same for every σ: what N(A⁻¹g, ν²A⁻²) and N(0, ν²A⁻²) are apart is ‖g‖/ν.",
    states=Eq(ratio, 1),
    checks=[
        Proof(
            [
                Same(
                    "(A⁻¹g)ᵀ(ν²A⁻²)⁻¹(A⁻¹g) = ‖g‖²/ν², mode by mode",
                    (x / (1 + smoothing * angle2)) ** 2 / (nu**2 / (1 + smoothing * angle2) ** 2),
                    x**2 / nu**2,
                )
            ],
            "λ cancels",
        )
    ],
)
