"""Pieces of work that tell where they ran, or die there once; workers import this file."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np


def summed(seed: int) -> float:
    """Linear algebra whose last bits depend on how many threads share it."""
    rng = np.random.default_rng(seed)
    return float(np.linalg.norm(rng.standard_normal((300, 300)) @ rng.standard_normal((300, 300))))


def where(_: int) -> int:
    """The process."""
    return os.getpid()


def fatal(folder: Path, seed: int) -> float:
    """The first piece kills its worker, once."""
    try:
        (folder / "killed").touch(exist_ok=False)
    except FileExistsError:
        return summed(seed)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


def deadly(seed: int) -> float:
    """Kills every worker."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


def failing(limit: int, seed: int) -> int:
    """Raises from some number on."""
    if seed >= limit:
        raise ZeroDivisionError(f"piece {seed}")
    return seed


def precise(digits: int) -> str:
    """A state of the whole process, set and read back: pieces side by side would disturb each other."""
    import mpmath

    mpmath.mp.dps = digits
    found = [str(mpmath.mp.sqrt(2)) for _ in range(50)]
    assert len(set(found)) == 1
    return found[0]
