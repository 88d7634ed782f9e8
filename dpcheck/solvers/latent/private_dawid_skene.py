"""Dawid and Skene's iteration on private answers. Claims: bounds/library/latent/private_dawid_skene.py.

For practice there is dpcheck.private_truth_inference, which takes missing answers and chooses λ by ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.latent import private_dawid_skene as theory
from dpcheck.bounds.privacy.release import Released
from dpcheck.families.one_report import OneReport
from dpcheck.families.private_answers import PrivateAnswers
from dpcheck.families.truth_inference import dawid_skene, majority, rescaled, sides
from dpcheck.kernels.method import Array
from dpcheck.settings import allowing, count


def floor() -> float:
    """λ of (7.10)."""
    words, refused = "a number in (0, 1/2)", (0.0, 0.5, -0.1, np.nan, "1")
    found: float = allowing(0.1, words, lambda v: not isinstance(v, str) and 0 < v < 0.5, refuses=refused)
    return found


@dataclass(frozen=True)
class PrivateDawidSkene(PrivateAnswers):
    """Abilities of the users, then hard labels of the tasks, from answers of which each is private by itself.

    The first labels are the shares of ones among the reports: the document assumes better ones, and gives none.
    """

    steps: int = count(10)
    least_ability: float = floor()
    name: ClassVar[str] = "private_dawid_skene"
    published: ClassVar[Claim] = theory.theorem1

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        n, m = data.shape
        scale = float(released.parts[0].law.scale)

        def server(reports: Array) -> Array:
            p, y = dawid_skene(reports, majority(reports), self.steps, self.least_ability)
            return np.hstack([rescaled(p, scale), 1.0 * (y >= 0.5)])

        return OneReport(sides, server, n, m, n + m)

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.theorem1]
