"""Parties as processes over loopback: what they open, what each of them sees, and how a computation ends early."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.datasets import logistic_synthetic
from dpcheck.parties.noise import SharedNoise
from dpcheck.parties.protocol import Plan, average, plan_average, plan_descent
from dpcheck.parties.session import PartyStopped, Session
from dpcheck.parties.task import Task
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.parties import Parties, split_evenly

pytest.importorskip("mpyc", reason="parties are MPyC's")
FALSE_ALARM = 1e-6
PROMISED = dp.ApproxDP(1.0, 1e-2)
THREE = split_evenly(logistic_synthetic(300, 2, 0).problem(Logistic(), l2=0.2), 3)


def far_pair() -> tuple[Parties, Parties]:
    """Three parties, of which the first holds a record that changes sides: gradients differ by 2G/(m n) everywhere."""
    far = 1e6
    first = Parties(np.ones((6, 1)), np.full(6, -far), Huber(1.0), l2=0.5, label_bound=far, sizes=(2, 2, 2))
    return first, first.replace(0, [1.0], far)


# What is opened ------------------------------------------------------------------------------------
def test_processes_open_the_average_and_nothing_else() -> None:
    """Within 20 scales of the average; a false alarm has probability 4e-9."""
    plan = plan_average(THREE, dp.PureDP(1.0))
    found = average(THREE, dp.PureDP(1.0))
    scale = float(plan.released.law.scale)
    assert np.all(abs(found.w - THREE.minimisers().mean(axis=0)) < 20 * scale)
    assert np.shape(found.opened) == (1, 2)
    assert found.guarantee.parameters["delta"] < 1e-12
    assert any("pool" in word for word in found.rests_on)


def test_processes_descend() -> None:
    """Within 12 deviations of descent without noise, which each step adds at most once more."""
    plan = plan_descent(THREE, dp.ApproxDP(2.0, 1e-3), steps=4, eta=1.0)
    found = plan.run()
    exact = np.zeros(2)
    for _ in range(4):
        exact = exact - THREE.gradient(exact)
    deviation = float(plan.released.law.scale)
    assert np.all(abs(found.w - exact) < 12 * 4 * deviation)
    assert np.all(found.w != exact)


# What is seen --------------------------------------------------------------------------------------
def with_all_noise(plan: Plan) -> Plan:
    """Planted: shares of which all parties' together are enough, as if nobody knew hers."""
    assert isinstance(plan.common.noise, SharedNoise)
    less = SharedNoise(round(plan.common.noise.variance * 2 / 3 / 2))
    return replace(plan, common=replace(plan.common, noise=less))


@pytest.mark.parametrize("planted", [False, True])
def test_a_curious_party_sees_what_the_release_says(planted: bool) -> None:
    """False alarms: 1e-6, a fixed seed. The noise is known to be Gaussian."""
    pair = far_pair()
    plan = plan_descent(pair[0], PROMISED, steps=2, eta=0.5)
    assert plan.seen_by(0).epsilon(1e-2).high < plan.seen_by(1).epsilon(1e-2).low
    assert 0.97 < plan.seen_by(1).epsilon(1e-2).high <= 1.0
    seen = (with_all_noise(plan) if planted else plan).view(curious=1)
    found = dp.audit(seen, pair=pair, guarantee=PROMISED, max_trials=12_000, alpha=FALSE_ALARM, seed=1, assume="gdp")
    assert found.violated == planted


@pytest.mark.parametrize("factor", [1.0, 0.4])
def test_noise_inside_is_known_to_nobody(factor: float) -> None:
    """False alarms: 1e-6, a fixed seed; planted: less noise. Whoever pools what she knows sees what all see."""
    pair = far_pair()
    plan = plan_average(pair[0], dp.PureDP(1.0))
    assert plan.seen_by(1) == plan.seen_by(0) == plan.released
    less = replace(plan.common.noise, scale=plan.common.noise.scale * factor)  # type: ignore[call-arg]
    seen = replace(plan, common=replace(plan.common, noise=less)).view(curious=1)
    found = dp.audit(seen, pair=pair, guarantee=dp.PureDP(1.0), max_trials=3_000, alpha=FALSE_ALARM, seed=1)
    assert found.violated == (factor < 1)


def test_sums_have_room_and_rounding_is_paid_for() -> None:
    pair = far_pair()
    for plan in (plan_average(pair[0], dp.PureDP(1.0)), plan_descent(pair[0], PROMISED, steps=3, eta=0.5)):
        tasks = [[Task(plan.common, p) for p in data.parties] for data in pair]
        sums = [sum(task.whole(plan.common.start()) for task in side) for side in tasks]
        moved = float(np.abs(np.subtract(*sums)).sum()) * plan.common.cell
        exact = float(plan.released.sensitivity)
        assert 0.99 * exact < moved <= exact
        assert np.abs(sums).max() <= plan.common.largest < plan.common.field / 2


# How it ends ---------------------------------------------------------------------------------------
def test_a_party_that_dies_ends_it_without_a_release() -> None:
    """Killed in the middle of a long descent, by its own process id; the others end by themselves and say why."""
    plan = plan_descent(THREE, PROMISED, steps=20_000, eta=0.01)
    with Session(plan.tasks, patience=60) as session:
        session.wait_until(lambda: all(session.connected))
        os.kill(session.processes[1].pid, signal.SIGKILL)
        with pytest.raises(PartyStopped, match="without a release") as stopped:
            session.opened()
    assert "party 1 left before the end" in " ".join(stopped.value.said.values())
    assert all(process.poll() is not None for process in session.processes)


class Garbled(Session):
    """The last party is replaced by one that sends such bytes, which are no message, and stays."""

    sent = "bytes(range(256)) * 50"

    def command(self, j: int, ports: Sequence[int]) -> list[str]:
        if j < len(self.tasks) - 1:
            return super().command(j, ports)
        script = (
            "import socket, sys, time\n"
            f"s = socket.socket(); s.bind(('127.0.0.1', {ports[j]})); s.listen()\n"
            "held = [s.accept()[0] for _ in range(2)]\n"
            f"[c.sendall({self.sent}) for c in held]\n"
            "time.sleep(60)"
        )
        return [sys.executable, "-c", script]


@pytest.mark.parametrize(
    ("sent", "said"), [("bytes(range(256)) * 50", "announced a message of"), ("bytes(5000)", "sent what is no message")]
)
def test_garbage_on_the_wire_ends_it_without_a_release(sent: str, said: str) -> None:
    session = Garbled(plan_descent(THREE, PROMISED, steps=3).tasks)
    session.sent = sent
    with session, pytest.raises(PartyStopped, match=f"party 2 {said}") as stopped:
        session.opened()
    assert 2 not in stopped.value.said  # it still ran, and was ended


def test_numbers_beyond_the_plan_are_never_sent() -> None:
    """A party whose records break the public bounds refuses by itself."""
    plan = plan_descent(THREE, PROMISED, steps=3)
    wild = dp.Problem(50 * THREE.party(2).X, THREE.party(2).y, Logistic(), l2=0.2, row_bound=50.0)
    with Session([*plan.tasks[:2], Task(plan.common, wild)]) as session, pytest.raises(PartyStopped) as stopped:
        session.opened()
    assert "nothing was sent" in stopped.value.said[2]


def test_what_is_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="at least 3"):
        plan_average(split_evenly(THREE, 2), dp.PureDP(1.0))
    with pytest.raises(dp.InvalidInput, match="less than half of 3"):
        plan_descent(THREE, PROMISED, steps=2, curious=2)
    with pytest.raises(dp.InvalidInput, match="less than half of 3"):
        plan_descent(THREE, PROMISED, steps=2).seen_by(2)
    for most in (17.0, 1e9):
        with pytest.raises(dp.InvalidInput, match=r"^epsilon is .* to 16, for which"):
            plan_average(THREE, dp.PureDP(most))
    for never in (0.0, -1.0, float("nan")):
        with pytest.raises(dp.InvalidInput, match=r"^patience is .* seconds > 0"):
            plan_descent(THREE, PROMISED, steps=2).run(patience=never)
    with pytest.raises(dp.InvalidInput, match="split_evenly"):
        plan_descent(THREE.party(0), PROMISED, steps=2)  # type: ignore[arg-type]
