"""From claims to verdicts: the catalogue and its index, the runs, the record."""
