"""Seeds and blocks: trials are cut in blocks of a fixed size, each with a seed of its own, so that the same seed gives
the same bits whoever runs which block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

Seed = int | np.random.SeedSequence | np.random.Generator | None

LARGEST_BLOCK = 2048
# Margins of a block, and noise drawn in one call, in numbers: both are to stay in the second-level cache.
MARGINS_HELD = 1 << 16
NOISE_HELD = 1 << 15


def seed_of(rng: Seed) -> np.random.SeedSequence:
    """A SeedSequence from what a user may pass; a Generator is advanced, so that it seeds afresh each time."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence([int(word) for word in rng.integers(0, 2**32, size=4)])
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0):
        raise InvalidInput("seed", rng, "an integer >= 0, SeedSequence, Generator or None", "Pass seed=0.")
    return np.random.SeedSequence(None if rng is None else int(rng))


def child(parent: np.random.SeedSequence, i: int) -> np.random.SeedSequence:
    """The i-th child that `parent.spawn` would give, without counting it: the same call gives the same bits."""
    return np.random.SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, i), pool_size=parent.pool_size)


def size_of(data: Any) -> int:
    """The number of records: `data.n`, or its length."""
    return int(data.n) if hasattr(data, "n") else len(data)


def block_size(data: Any) -> int:
    """Trials a block: a power of two, as many as keep one number for each record and trial in cache."""
    fitting = max(1, MARGINS_HELD // max(1, size_of(data)))
    return int(min(LARGEST_BLOCK, max(64, 1 << (fitting.bit_length() - 1))))


def block_cuts(
    data: Any, trials: int, blocks: range | None = None, size: int | None = None
) -> list[tuple[int, int, int]]:
    """(number, first trial, last trial + 1) of each block of `size` trials, or of the chosen ones."""
    size = size or block_size(data)
    count = -(-trials // size)
    chosen = range(count) if blocks is None else blocks
    if not chosen or min(chosen) < 0 or max(chosen) >= count:
        raise InvalidInput("blocks", chosen, f"some of range({count})", "Pass blocks=None for all.")
    return [(i, i * size, min(trials, (i + 1) * size)) for i in chosen]


def steps_held(k: int, d: int, steps: int) -> int:
    """How many steps of noise for k trials are drawn in one call."""
    return min(steps, max(1, NOISE_HELD // (k * d)))
