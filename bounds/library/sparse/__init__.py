"""Sparse learning: claims as printed and corrected."""
