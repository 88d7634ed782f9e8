"""What several solvers share beyond a kernel: settings, plans, calibration. Solver files do not import one another."""
