"""Checks that run code, in files of the same stems as the claims and the solvers they are about."""
