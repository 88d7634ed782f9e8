"""Clients of pure-ldp and multi-freq-ldpy. Compiled code of the latter cannot be seeded, so it runs as Python here."""

from __future__ import annotations

import math
import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

os.environ["NUMBA_DISABLE_JIT"] = "1"  # before it is imported

from corpus.wild.subject import Subject
from dpcheck.adapters import multi_freq_ldpy, pure_ldp
from dpcheck.adapters.hashed_reports import HashedReports
from dpcheck.audits import likelihood_ratio, per_run
from dpcheck.bounds.language.guarantees import LOCAL, PureDP

EPS, SMALL, K, TRIALS = 1.0, 0.5, 4, 2_000
CLAIM = PureDP(EPS, relation=LOCAL)
HASHES = [lambda item, i=i: (int(item) + i) % 4 for i in range(2)]
SIGNED = [(hash_, lambda item, i=i: (int(item) // 2 + i) % 2) for i, hash_ in enumerate(HASHES)]
FILTER = 0.5  # RAPPOR's f


def hashed(g: int, first: int) -> Any:
    return likelihood_ratio(HashedReports(g, first))


def as_sent(item: Any) -> Any:
    """The one number of a report with t = 1, and whether it came in a list."""
    sent = import_module("pure_ldp.frequency_oracles").HadamardMechClient(EPS, K, 1).privatise(int(item))
    place, sign = next(iter(sent if isinstance(sent, list) else [*sent]))
    return [float(isinstance(sent, list)), float(place), float(sign)]


def of_pure_ldp(name: str, label: str = "", pair: Any = (1, 2), **options: Any) -> Subject:
    about = {key: options.pop(key) for key in [*options] if key in Subject.__dataclass_fields__}
    kind = getattr(import_module("pure_ldp.frequency_oracles"), name)
    asked = {**({} if name == "RAPPORClient" else {"epsilon": EPS}), **options}
    make = lambda: pure_ldp.client(kind(**asked))  # noqa: E731
    return Subject(f"{name}{label}", make, about.pop("claim", CLAIM), pair, trials=TRIALS, **about)


def pure_ldp_clients() -> tuple[Subject, ...]:
    server = import_module("pure_ldp.frequency_oracles").HadamardResponseServer(EPS, K)
    hashes = server.get_hash_funcs() if hasattr(server, "get_hash_funcs") else None
    # One hash function and one cohort: a filter bit each for the item's hash. Their own conversion from f to epsilon.
    promised = math.log(((1 - FILTER / 2) / (FILTER / 2)) ** 2)
    return (
        of_pure_ldp("DEClient", d=K),
        of_pure_ldp("UEClient", ", symmetric", d=K),
        of_pure_ldp("UEClient", ", optimised", d=K, use_oue=True),
        of_pure_ldp("HEClient", d=K),
        of_pure_ldp("LHClient", ", binary", d=K, attack=hashed(2, 1)),
        of_pure_ldp("LHClient", ", optimised", d=K, use_olh=True, attack=hashed(round(math.e) + 1, 1)),
        of_pure_ldp("HadamardMechClient", d=K, t=1),
        of_pure_ldp("HadamardMechClient", ", t = 2", d=K, t=2),
        Subject(
            "HadamardMechClient, the report as it is",
            lambda: per_run(as_sent),
            CLAIM,
            (1, 2),
            trials=TRIALS,
            finding="privatise() returns a list where the answer is true and a zip object where it is not: whoever is "
            "handed the object itself, or its pickle, sees which. (Read into numbers, the report keeps epsilon.)",
            promise="'Privatises given data item'",
        ),
        of_pure_ldp("HadamardResponseClient", d=K, hash_funcs=hashes),
        of_pure_ldp("CMSClient", hash_funcs=HASHES, m=4, pair=(0, 1)),
        of_pure_ldp("CMSClient", ", Hadamard", hash_funcs=HASHES, m=4, is_hadamard=True, pair=(0, 1)),
        of_pure_ldp("PCSClient", l=2, w=4, hash_funcs=SIGNED, pair=(0, 1)),
        of_pure_ldp(
            "RAPPORClient",
            f=FILTER,
            m=4,
            hash_funcs=[HASHES[:1]],
            num_of_cohorts=1,
            claim=PureDP(promised, relation=LOCAL),
            finding="A bit that is set is never cleared: where its coin says 0, it keeps its 1. A 0 in the report "
            "shows that the item does not hash there.",
            promise="convert_f_to_eps(f, k) gives the epsilon of a client with f; 'does not guarantee longitudinal "
            "privacy', so one report is meant",
        ),
    )


def of_multi_freq(where: str, name: str, eps: float = EPS, attack: Any = "auto", **options: Any) -> Subject:
    function = getattr(import_module(f"multi_freq_ldpy.{where}"), f"{name}_Client")
    label = "".join(f", {key}={value}" for key, value in options.items())
    make = lambda: multi_freq_ldpy.client(function, K, eps, **options)  # noqa: E731
    claim = PureDP(options.get("eps_1", eps), relation=LOCAL)
    return Subject(f"{name}_Client{label}", make, claim, (0, 1), attack=attack, trials=TRIALS)


TUPLES = ((0, 0), (1, 1))
WHOLE_TUPLE = {
    "finding": "One attribute is sent as it would be with epsilon ln(2(e^eps - 1) + 1), the other is drawn: users "
    "whose tuples differ in every attribute are told apart by that larger epsilon. (Tuples that differ in one "
    "attribute keep eps.)",
    "promise": "`input_tuple`: 'user's true tuple of values', `epsilon`: 'privacy guarantee'",
}


def of_tuples(name: str, pair: Any = TUPLES, label: str = "", **about: Any) -> Subject:
    room = {"RSpFD": "RSpFD_solution", "SMP": "SMP_solution", "SPL": "SPL_solution"}[name.partition("_")[0]]
    function = getattr(import_module(f"multi_freq_ldpy.mdim_freq_est.{room}"), f"{name}_Client")
    make = lambda: multi_freq_ldpy.tuple_client(function, (2, 2), EPS)  # noqa: E731
    return Subject(f"{name}_Client{label}", make, CLAIM, pair, trials=3_000, **about)


def multi_freq_clients() -> tuple[Subject, ...]:
    pure, long = "pure_frequency_oracles", "long_freq_est"
    twice = [
        of_multi_freq(f"{long}.{name}", name, EPS, eps_1=SMALL)
        for name in ("L_GRR", "L_SUE", "L_OUE", "L_OSUE", "L_SOUE", "L_ADP")
    ]
    return (
        of_multi_freq(f"{pure}.GRR", "GRR"),
        of_multi_freq(f"{pure}.UE", "UE"),
        of_multi_freq(f"{pure}.UE", "UE", optimal=False),
        of_multi_freq(f"{pure}.HE", "HE"),
        of_multi_freq(f"{pure}.SS", "SS"),
        of_multi_freq(f"{pure}.ADP", "ADP"),
        of_multi_freq(f"{pure}.LH", "LH", attack=hashed(round(math.e) + 1, 0)),
        *twice,
        of_tuples("SPL_GRR"),
        of_tuples("SPL_UE"),
        of_tuples("SMP_GRR"),
        of_tuples("SMP_UE"),
        of_tuples("RSpFD_GRR", ((0, 0), (1, 0)), ", one attribute"),
        of_tuples("RSpFD_GRR", label=", every attribute", **WHOLE_TUPLE),
        of_tuples("RSpFD_UE_rnd", label=", every attribute", **WHOLE_TUPLE),
        of_tuples("RSpFD_UE_zero", label=", every attribute", **WHOLE_TUPLE),
    )


PURE_LDP = pure_ldp_clients() if find_spec("pure_ldp") else ()
MULTI_FREQ_LDPY = multi_freq_clients() if find_spec("multi_freq_ldpy") else ()
SUBJECTS = {"pure_ldp": PURE_LDP, "multi_freq_ldpy": MULTI_FREQ_LDPY}
np.seterr(all="ignore")
