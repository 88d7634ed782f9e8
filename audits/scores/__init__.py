"""From an output to one number that speaks for the first dataset or the second."""
