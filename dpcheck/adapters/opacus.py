"""Opacus's optimisers as mechanisms: clipped, noisy steps on Poisson batches, with the guarantee that it states."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dpcheck.adapters import torch as adapter
from dpcheck.audits import PerRun
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP


def library(part: str) -> Any:
    """A part of Opacus, or the sentence on how to install it."""
    try:
        return importlib.import_module(part)
    except ImportError as missing:
        raise MissingDependency("opacus", "auditing its optimisers", "torch") from missing


@dataclass(frozen=True)
class Training:
    """`steps` steps of an Opacus optimiser on (X, y); the output is the model."""

    model: Callable[[], Any]
    loss: Callable[[Any, Any], Any]
    optimiser: Callable[..., Any]
    noise_multiplier: float
    max_grad_norm: float
    steps: int
    sample_rate: float
    expected_batch_size: int
    settings: dict[str, Any] = field(default_factory=dict, hash=False)

    def __call__(self, data: Any) -> Any:
        torch, opacus, optimizers = adapter.library(), library("opacus"), library("opacus.optimizers")
        X, y = data
        module = opacus.GradSampleModule(self.model())
        step = optimizers.DPOptimizer(
            self.optimiser(module.parameters(), **self.settings),
            noise_multiplier=self.noise_multiplier,
            max_grad_norm=self.max_grad_norm,
            expected_batch_size=self.expected_batch_size,  # public: len(X) would tell of a record that is gone
        )
        for _ in range(self.steps):
            drawn = torch.rand(len(X)) < self.sample_rate
            step.zero_grad()
            self.loss(module(X[drawn]), y[drawn]).backward()
            step.step()
        return module

    @property
    def __name__(self) -> str:
        return f"opacus.{getattr(self.optimiser, '__name__', 'optimiser')}"


@dataclass(frozen=True)
class OpacusMechanism(PerRun):
    """The training as a mechanism, and what Opacus says of it."""

    def guarantee(self, delta: float, accountant: str = "prv") -> ApproxDP:
        """The epsilon at `delta` by Opacus's accountant ("prv", "rdp" or "gdp"), for adding or removing a record."""
        run = self.training
        made = library("opacus.accountants").create_accountant(accountant)
        made.history = [(run.noise_multiplier, run.sample_rate, run.steps)]
        return ApproxDP(float(made.get_epsilon(delta)), delta, relation=ADD_REMOVE)

    @property
    def training(self) -> Training:
        run = self.function
        assert isinstance(run, adapter.TorchRun)
        assert isinstance(run.function, Training)
        return run.function


def training(
    model: Callable[[], Any],
    loss: Callable[[Any, Any], Any],
    optimiser: Callable[..., Any] | None = None,
    *,
    noise_multiplier: float,
    max_grad_norm: float,
    expected_batch_size: int,
    sample_rate: float = 1.0,
    steps: int = 1,
    **settings: Any,
) -> OpacusMechanism:
    """A mechanism that trains `model()` on (X, y) by DPOptimizer around `optimiser` (torch.optim.SGD) with `settings`.

    Each record is in a batch with probability `sample_rate`. `loss(scores, y)` is a mean over the batch, whose expected
    size is public. `guarantee(delta)` is what Opacus's accountant states; audit it with `add_remove` neighbours.
    """
    torch = adapter.library()
    library("opacus")
    if not callable(model) or isinstance(model, torch.nn.Module):
        raise InvalidInput("model", model, "a function that makes a fresh model", "Pass lambda: torch.nn.Linear(2, 1).")
    if not 0 < sample_rate <= 1:
        raise InvalidInput("sample_rate", sample_rate, "a number in (0, 1]", "1.0 takes every record in every step.")
    whole = {"steps": steps, "expected_batch_size": expected_batch_size}
    for name, value in whole.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidInput(name, value, "a whole number >= 1", "It is public: the same for all datasets.")
    kind = torch.optim.SGD if optimiser is None else optimiser
    options = settings if settings or optimiser is not None else {"lr": 1.0}
    run = Training(model, loss, kind, noise_multiplier, max_grad_norm, steps, sample_rate, expected_batch_size, options)
    return OpacusMechanism(adapter.TorchRun(run), global_state=False)
