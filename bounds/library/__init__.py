"""The theory, one folder for each theme, one file for each algorithm: its claims in the order of the source."""
