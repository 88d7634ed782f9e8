"""PyTorch functions as mechanisms: arrays go in as tensors, torch's generator is seeded by the audit, and what comes
out (a tensor, a module, a dict of tensors) is released as numbers.

That covers any training loop of Opacus, whose noise and batches come from torch's generator unless it is given another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.audits import PerRun, per_run
from dpcheck.audits.outputs.foreign import from_tensor
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency


def library() -> Any:
    """torch, or the sentence on how to install it."""
    try:
        import torch
    except ImportError as missing:
        raise MissingDependency("torch", "auditing its functions", "torch") from missing
    return torch


@dataclass(frozen=True)
class TorchRun:
    """One run of `function(data)`; torch's own state is as before when it is over."""

    function: Callable[[Any], Any]

    def __call__(self, data: Any, rng: np.random.Generator) -> Any:
        torch = library()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**63)))
            return released(self.function(tensors(data)))

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)


def mechanism(function: Callable[[Any], Any]) -> PerRun:
    """A mechanism from `function(data)`, which makes ONE run with torch and draws from its default generator.

    Data that are arrays, or tuples and dicts of them, become tensors: floats of torch's default type. A module stands
    for its parameters. Generators of its own (`torch.Generator`) the function has to seed from torch's.
    """
    library()
    if not callable(function):
        raise InvalidInput("function", function, "callable as function(data)", "Pass the function itself.")
    return per_run(TorchRun(function))


def tensors(data: Any) -> Any:
    """The same data with tensors in place of arrays."""
    torch = library()
    if isinstance(data, np.ndarray):
        made = torch.from_numpy(np.array(data))  # a copy: a run may write into it
        return made.to(torch.get_default_dtype()) if made.is_floating_point() else made
    if isinstance(data, tuple | list):
        return type(data)(tensors(item) for item in data)
    if isinstance(data, dict):
        return {key: tensors(item) for key, item in data.items()}
    return data


def released(output: Any) -> Any:
    """A module as the row of its parameters; anything else as it is, which the audit reads."""
    torch = library()
    if not isinstance(output, torch.nn.Module):
        return output
    return np.concatenate([np.ravel(from_tensor(parameter)) for parameter in output.parameters()])
