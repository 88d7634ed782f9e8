"""Audit DP-SGD as Opacus does it: its optimiser as it is, then one with a quarter of the noise.

Run: python examples/audit_opacus.py   (pip install 'dpcheck[torch]')
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import dpcheck as dp

DELTA = 1e-2
# One record more or less, whose gradient is clipped: nothing moves a step further.
PAIR = (np.ones((1, 1)), np.full(1, 100.0)), (np.ones((0, 1)), np.zeros(0))


def model() -> torch.nn.Module:
    """Starts at zero, so that the noise alone is random."""
    made = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(made.weight)
    return made


def squared(scores: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((scores[:, 0] - y) ** 2).mean()


def training(noise_multiplier: float) -> Any:
    """Two steps on every record."""
    options = {"max_grad_norm": 1.0, "expected_batch_size": 1, "steps": 2, "lr": 0.1}
    return dp.adapters.opacus.training(model, squared, noise_multiplier=noise_multiplier, **options)


def main(trials: int = 2_000) -> tuple[dp.AuditResult, dp.AuditResult]:
    """The right one, and the wrong one under the right one's claim."""
    claim = training(2.0).guarantee(DELTA)
    call: dict[str, Any] = {"pair": PAIR, "guarantee": claim, "max_trials": trials, "alpha": 1e-6}
    return dp.audit(training(2.0), **call), dp.audit(training(0.5), **call)


if __name__ == "__main__":
    for result in main():
        print(result, end="\n\n")
