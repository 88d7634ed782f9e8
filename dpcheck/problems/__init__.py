"""Data, losses and constraint sets, with the constants that theorems ask for."""
