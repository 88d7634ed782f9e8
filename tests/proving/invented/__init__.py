"""Invented claims by the kind of check that judges them: each module registers its families of pairs."""
