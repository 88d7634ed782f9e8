"""One training run, many canaries: what an attacker sees of coins that decide which records a model is trained on."""
