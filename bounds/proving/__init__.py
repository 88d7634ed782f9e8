"""Symbolic checks: chains of steps, inequalities, implications, derivations, citations, rates, tables."""
