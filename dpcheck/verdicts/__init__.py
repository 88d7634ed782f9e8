"""From claims to verdicts: the catalogue, the runs, the record."""
