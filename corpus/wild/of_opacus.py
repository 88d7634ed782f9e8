"""Opacus: its optimiser and its engine, by audit, by replay, and by reading the loop against its accountant."""

from __future__ import annotations

from typing import Any

import numpy as np
import opacus as library
import torch

from corpus.wild.subject import Subject
from dpcheck.adapters import opacus
from dpcheck.adapters import torch as adapter
from dpcheck.bounds.language.guarantees import ADD_REMOVE, GaussianDP

torch.set_num_threads(1)
TRIALS = 300
FAR = (np.ones((2, 1)), np.array([100.0, 100.0]))
ONE_LESS = (FAR[0][:1], FAR[1][:1])
OPTIMISERS = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "RMSprop": torch.optim.RMSprop}


def mean_loss(scores: Any, y: Any) -> Any:
    return ((scores[:, 0] - y) ** 2).mean()


def empty_model() -> Any:
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    return model


def training(name: str, **more: Any) -> Subject:
    """One DPOptimizer around an optimiser of torch, under what Opacus's accountant says."""
    options = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": 2, "lr": 0.1, **more}
    made = opacus.training(empty_model, mean_loss, OPTIMISERS[name.partition(",")[0]], **options)
    return Subject(f"DPOptimizer, {name}", lambda: made, made.guarantee(1e-2), (FAR, ONE_LESS), trials=TRIALS)


def engine(poisson: bool, **more: Any) -> Any:
    """PrivacyEngine.make_private as its tutorials have it."""

    def train(data: Any) -> Any:
        model = empty_model()
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), batch_size=len(data[0]))
        model, step, loader = library.PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
            data_loader=loader,
            noise_multiplier=2.0,
            max_grad_norm=1.0,
            poisson_sampling=poisson,
            **more,
        )
        for x, y in loader:
            step.zero_grad()
            mean_loss(model(x), y).backward()
            step.step()
        return model

    return adapter.mechanism(train)


OPPOSITE = (np.ones((2, 1)), np.array([-100.0, 100.0]))
SUBJECTS = (
    training("SGD"),
    training("SGD, sampled, 4 steps", sample_rate=0.5, steps=4),
    training("Adam", steps=2),
    training("RMSprop", steps=2),
    Subject(
        "PrivacyEngine.make_private, whole batches",
        lambda: engine(poisson=False),
        GaussianDP(1.0),  # a record replaced moves the sum by 2, noise 2
        (FAR, OPPOSITE),
        trials=TRIALS,
    ),
    Subject(
        "PrivacyEngine.make_private, Poisson batches",
        lambda: engine(poisson=True),
        GaussianDP(0.5, relation=ADD_REMOVE),  # of one batch that takes everybody: noise 2 on one record
        (FAR, ONE_LESS),
        trials=TRIALS,
        limit="the learning rate's divisor is the number of records over the number of batches, which add/remove "
        "neighbours differ in; it is taken as public",
    ),
)
