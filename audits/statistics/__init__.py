"""From counts and scores to bounds: intervals, tests, the choice of an event, power."""
