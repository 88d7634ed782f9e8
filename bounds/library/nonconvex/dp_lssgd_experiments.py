"""The experiments on DP-LSSGD and DP-LSAdam (lwang21, section 5.4; lssgd20, section 4): one claim for each finding.

Softmax regression on MNIST, 50000 records in batches of 128, 50 epochs (19531 steps), steps 1/t, δ = 1e-5. Measured by
dpcheck/evidence/nonconvex/dp_lssgd_experiments.py, with digits for MNIST. Both documents print the same numbers: the
noise is that of lssgd20's theorem for both. Convolutional networks are not trained here.
"""

from sympy import Le

from dpcheck.bounds.language.claim import Claim, Kind, Setting
from dpcheck.bounds.language.symbols import quantity
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both
from dpcheck.bounds.proving.proofs import Quoted

left = quantity("ls_left", "error or loss of the method that the text praises, over that of the other", printed="left")
INSTEAD = Setting("digits for MNIST, with the noise of lssgd20's Theorem 1 for the documents' n = 50000 and T = 19531")
NETWORKS = Quoted("from runs on convolutional networks, which are not trained here")


def finding(first: str, second: str, lines: tuple[int, int], says: str) -> tuple[Claim, Claim]:
    """What the text says that softmax regression shows."""
    return both(
        first, second, lines=lines, kind=Kind.EXPERIMENT, says=says, added=[INSTEAD], states=Le(left, 1)
    )


def of_networks(first: str, second: str, lines: tuple[int, int], says: str) -> tuple[Claim, Claim]:
    """What the text says that networks show."""
    return both(first, second, lines=lines, kind=Kind.EXPERIMENT, says=says, states=Le(left, 1), checks=[NETWORKS])


degraded, degraded_v0 = finding(
    "figure5.1", "figure1", (8013, 21),
    "Training and validation losses of DP-SGD increase when the guarantee becomes stronger: ε = 0.3, 0.2, 0.1.",
)
losses, losses_v0 = finding(
    "figure5.3", "figure3", (8671, 174),
    "The training and validation losses of DP-SGD are higher than those of DP-LSSGD (σ = 1, 3) at ε = 0.2 and 0.1.",
)
stronger, stronger_v0 = finding(
    "figure5.3.stronger", "figure3.stronger", (8677, 174),
    "When the guarantee gets stronger, ε = 0.1 against 0.2, smoothing improves the losses more.",
)
accuracy, accuracy_v0 = finding(
    "table5.2", "table2", (8691, 176),
    "DP-LSSGD with σ = 1, 2, 3 improves the test accuracy of the private model, at ε = 0.3, 0.25, 0.2, 0.15 and 0.1.",
)
steps, steps_v0 = finding(
    "figure5.4", "figure4", (8725, 194),
    "With steps a/t, a = 0.5, 1, …, 3, DP-LSSGD always outperforms DP-SGD, at ε = 0.1 and 0.2: test accuracy, σ = 1.",
)

oscillation, oscillation_v0 = of_networks(
    "figure5.5.networks", "figure5.networks", (8746, 198),
    "Under strong noise DP-LSSGD mitigates DP-SGD's instability; DP-Adam does better, and DP-LSAdam better still.",
)
boosted, boosted_v0 = of_networks(
    "figure5.7.networks", "figure6.networks", (8785, 209),
    "A larger σ is more stable and at first slower; smoothing adds 3.2% of accuracy at ε = 0.4 and 5.0% at 0.2.",
)
images, images_v0 = of_networks(
    "figure5.6.networks", "figure7.networks", (8810, 554),
    "On CIFAR10 smoothing significantly improves the accuracy of DP-SGD and of DP-Adam.",
)
