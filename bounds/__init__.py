"""What is claimed: symbols, claims, guarantees, proofs; one folder for each theme, one file for each algorithm."""

ENGINES = ("performance",)  # folders beside the themes that hold no algorithms
