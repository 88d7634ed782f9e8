"""What tests of chains share."""

import pytest

from dpcheck.bounds.proving import reasons


@pytest.fixture
def known(monkeypatch):
    """Claims that chains may cite, by id."""
    found = {}
    monkeypatch.setattr(reasons, "claim_of", lambda cites: found[cites.id])

    def add(made):
        found[made.id] = made
        return made.id

    return add
