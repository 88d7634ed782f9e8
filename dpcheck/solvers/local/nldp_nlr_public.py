"""Cubic regression from private moments and public rows. Claims: bounds/library/local/nldp_nlr_public.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.local import nldp_nlr_public as theory
from dpcheck.families.public_rows import ScaledLeastSquares
from dpcheck.kernels.method import Array


@dataclass(frozen=True)
class LocalRegression(ScaledLeastSquares):
    """y = f(⟨x, w⟩) + noise with f(t) = t³/3, as in the experiments; labels beyond their bound are refused."""

    name: ClassVar[str] = "nldp_nlr_public"
    privacy: ClassVar[Claim] = theory.algorithm40_privacy

    def change(self, margins: Array) -> Array:
        return margins**2
