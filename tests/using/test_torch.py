"""PyTorch and Opacus against the real packages (tools/check-adapters torch), and what needs neither.

Set DPCHECK_ADAPTERS=required to turn a missing library from a skip into a failure. Audits have a fixed seed and a
false-alarm rate of 1e-6, and flag the bug planted beside them.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcheck as dp

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.filterwarnings("ignore")


def library(name: str) -> Any:
    """A library, or the reason why its tests do not run here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if os.environ.get("DPCHECK_ADAPTERS") == "required":
            raise
        return pytest.skip(f"{name} does not import here ({error}): run tools/check-adapters torch")


def noisy_sum(data: Any) -> Any:
    """A release written in torch, for records of at most 1."""
    import torch

    assert data.dtype == torch.get_default_dtype()
    return data.sum() + torch.distributions.Laplace(0.0, 1.0).sample()


def test_a_torch_function_is_seeded_by_the_audit_and_leaves_torch_alone() -> None:
    torch = library("torch")
    mechanism = dp.adapters.torch.mechanism(noisy_sum)
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    draws = [mechanism(np.ones(3), np.random.default_rng(2), 20) for _ in "ab"]
    assert np.array_equal(*draws)
    assert len(np.unique(draws[0])) == 20
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(("epsilon", "violated"), [(1.0, False), (0.4, True)])
def test_a_torch_release_is_audited(epsilon: float, violated: bool) -> None:
    library("torch")
    near = dp.replace_one(low=0, high=1, n=3)
    result = dp.audit(
        dp.adapters.torch.mechanism(noisy_sum),
        neighbours=near,
        guarantee=dp.PureDP(epsilon),
        max_trials=6000,
        alpha=1e-6,
    )
    assert result.violated is violated
    assert result.health == ()


def test_tensors_are_data_and_outputs() -> None:
    """Batched and one by one, of types that numpy has and has not, in dicts, with a checkpoint."""
    torch = library("torch")

    def batched(data: Any, rng: np.random.Generator, trials: int) -> Any:
        return data.sum() + torch.from_numpy(rng.laplace(scale=0.3, size=trials))

    def single(data: Any, rng: np.random.Generator) -> Any:
        return (data.sum() + rng.laplace(scale=0.3)).to(torch.bfloat16)

    def named(data: Any, rng: np.random.Generator) -> Any:
        return {"weights": torch.zeros(2) + data.sum() + rng.laplace(scale=0.3), "steps": 3}

    pair = torch.zeros(4), torch.tensor([0.0, 1.0, 0.0, 0.0])
    for mechanism in (batched, dp.per_run(single), dp.per_run(named)):
        result = dp.audit(mechanism, pair=pair, guarantee=dp.PureDP(1.0), max_trials=3000, alpha=1e-6)
        assert result.violated
        assert "tensor" in str(result)
        assert not any("not looked at" in message for message in result.health)


def test_checkpoints_know_tensors(tmp_path: Path) -> None:
    torch = library("torch")
    call: dict[str, Any] = {"guarantee": dp.PureDP(1.0), "max_trials": 2000, "checkpoint": tmp_path / "kept"}
    mechanism = dp.adapters.torch.mechanism(noisy_sum)
    first, again = (dp.audit(mechanism, pair=(torch.zeros(3), torch.ones(3)), **call) for _ in "ab")
    assert first.epsilon_lower == again.epsilon_lower
    with pytest.raises(dp.DpcheckError):  # other data: another audit's file
        dp.audit(mechanism, pair=(torch.zeros(3), 2 * torch.ones(3)), **call)


def test_modules_stand_for_their_parameters() -> None:
    torch = library("torch")
    mechanism = dp.adapters.torch.mechanism(lambda data: torch.nn.Linear(2, 3))
    assert mechanism(np.zeros(1), np.random.default_rng(0), 4).shape == (4, 9)
    inside = dp.adapters.torch.tensors({"x": (np.zeros(2), np.arange(3)), "name": "a"})
    assert [part.dtype for part in inside["x"]] == [torch.get_default_dtype(), torch.int64]
    with pytest.raises(dp.InvalidInput, match=r"callable as function\(data\)"):
        dp.adapters.torch.mechanism(3)


# Opacus ---------------------------------------------------------------------------------------------
def test_opacus_example() -> None:
    library("opacus")
    right, wrong = runpy.run_path(str(EXAMPLES / "audit_opacus.py"))["main"](1500)
    assert not right.violated
    assert np.isfinite(right.detectable_epsilon)
    assert wrong.violated
    assert str(right.guarantee).endswith("add/remove-one)")


def mean_loss(scores: Any, y: Any) -> Any:
    return ((scores[:, 0] - y) ** 2).mean()


def test_what_opacus_states_agrees_with_our_own_account() -> None:
    """Its accountant for Poisson batches and ours; without sampling the exact one."""
    torch = library("torch")
    library("opacus")
    options: dict[str, Any] = {"noise_multiplier": 1.5, "max_grad_norm": 1.0, "expected_batch_size": 3, "steps": 4}
    whole = dp.adapters.opacus.training(lambda: torch.nn.Linear(1, 1), mean_loss, **options)
    exact = dp.GaussianDP(4**0.5 / 1.5).epsilon(1e-5)
    assert whole.guarantee(1e-5).eps == pytest.approx(exact, rel=0.02)
    assert whole.guarantee(1e-5, "rdp").eps > exact
    sampled = dp.adapters.opacus.training(lambda: torch.nn.Linear(1, 1), mean_loss, sample_rate=0.1, **options)
    assert sampled.guarantee(1e-5).eps < exact


def test_batches_are_drawn_and_empty_ones_get_noise_too() -> None:
    torch = library("torch")
    library("opacus")
    mechanism = dp.adapters.opacus.training(
        lambda: torch.nn.Linear(1, 1, bias=False),
        mean_loss,
        torch.optim.Adam,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        expected_batch_size=2,
        sample_rate=0.01,
        steps=2,
        lr=0.1,
    )
    data = np.ones((3, 1)), np.ones(3)
    draws = [mechanism(data, np.random.default_rng(1), 6) for _ in "ab"]
    assert np.array_equal(*draws)
    assert len(np.unique(draws[0])) == 6
    assert np.isfinite(draws[0]).all()


def test_a_users_own_loop_of_opacus_is_audited() -> None:
    """PrivacyEngine in a function of the data: sound, and with a quarter of the noise that was accounted for."""
    torch = library("torch")
    opacus = library("opacus")

    def train(noise: float, data: Any) -> Any:
        model = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), batch_size=len(data[0]))
        model, step, loader = opacus.PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
            data_loader=loader,
            noise_multiplier=noise,
            max_grad_norm=1.0,
            poisson_sampling=False,
        )
        for x, y in loader:
            step.zero_grad()
            mean_loss(model(x), y).backward()
            step.step()
        return model

    X = np.ones((2, 1))
    pair = (X, np.array([100.0, 0.0])), (X, np.array([-100.0, 0.0]))  # one record replaced: twice the sensitivity
    call: dict[str, Any] = {"pair": pair, "guarantee": dp.GaussianDP(1.0), "max_trials": 800, "alpha": 1e-6}
    assert not dp.audit(dp.adapters.torch.mechanism(lambda data: train(2.0, data)), **call).violated
    assert dp.audit(dp.adapters.torch.mechanism(lambda data: train(0.5, data)), **call).violated


def test_bad_settings_are_named() -> None:
    torch = library("torch")
    library("opacus")
    options: dict[str, Any] = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": 2}
    for model, change, says in (
        (torch.nn.Linear(1, 1), {}, "makes a fresh model"),
        (lambda: None, {"sample_rate": 0.0}, "sample_rate is 0"),
        (lambda: None, {"steps": 0}, "steps is 0"),
        (lambda: None, {"expected_batch_size": 1.5}, "expected_batch_size is 1.5.*public"),
    ):
        with pytest.raises(dp.InvalidInput, match=says):
            dp.adapters.opacus.training(model, mean_loss, **{**options, **change})


@pytest.mark.parametrize("name", ["torch", "opacus"])
def test_a_missing_library_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    calls: dict[str, Any] = {
        "torch": lambda: dp.adapters.torch.mechanism(abs),
        "opacus": lambda: dp.adapters.opacus.training(
            dict, mean_loss, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=1
        ),
    }
    with pytest.raises(dp.MissingDependency, match=r"pip install 'dpcheck\[torch\]'"):
        calls[name]()


def by_distribution(data: Any) -> Any:
    import torch

    return data.sum() + torch.distributions.Laplace(0.0, 1.0).sample()


def in_place(data: Any) -> Any:
    import torch

    return data.sum() + torch.zeros(1).exponential_() - torch.zeros(1).exponential_()


def by_one_function(data: Any) -> Any:
    import torch

    return data[:2] + torch.normal(0.0, 2.0, size=(2,))


def by_another(data: Any) -> Any:
    import torch

    return data[:2].double() + 2 * torch.randn(2, dtype=torch.float64)


def seeded_for_ever(data: Any) -> Any:
    import torch

    return data[:2] + torch.normal(0.0, 2.0, size=(2,), generator=torch.Generator().manual_seed(5))


def in_the_dark(data: Any) -> Any:
    import torch

    return torch.nn.functional.dropout(data + 1).sum() + torch.randn(())


def single_in_double(data: Any) -> Any:
    import torch

    return 1e-9 * data[:1].double() + torch.randn(1).double()


@pytest.mark.parametrize(
    ("function", "claim", "truth"),
    [
        (by_distribution, dp.PureDP, 1.0),
        (in_place, dp.PureDP, 1.0),
        (by_one_function, dp.GaussianDP, 0.5),
        (by_another, dp.GaussianDP, 0.5),
    ],
)
def test_replay_hears_torch(function: Any, claim: Any, truth: float) -> None:
    torch = library("torch")
    before = torch.normal, torch.Tensor.normal_, torch.random.get_rng_state()
    mechanism, pair = dp.adapters.torch.mechanism(function), (np.zeros(5), np.eye(5)[0])
    assert dp.replay(mechanism, pair, claim(truth)).kept
    found = dp.replay(mechanism, pair, claim(0.9 * truth))
    assert found.violated
    assert found.low == pytest.approx(truth, rel=1e-4)
    assert found.hidings[0].site.file == __file__
    assert (torch.normal, torch.Tensor.normal_) == before[:2]
    assert torch.equal(torch.random.get_rng_state(), before[2])


def test_replay_knows_what_it_did_not_hear_of_torch() -> None:
    library("torch")
    pair, claim = (np.zeros(5), np.eye(5)[0]), dp.GaussianDP(1.0)
    assert dp.replay(dp.adapters.torch.mechanism(seeded_for_ever), pair, claim).violated
    assert dp.replay(dp.adapters.torch.mechanism(single_in_double), pair, claim).violated
    unheard = dp.replay(dp.adapters.torch.mechanism(in_the_dark), pair, claim)
    assert "unheard" in unheard.unseen[0]
