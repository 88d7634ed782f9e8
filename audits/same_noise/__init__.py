"""Replay: both datasets under the same noise. What moves, and how much noise hides it, is read off, not estimated."""
