"""Which two datasets: domains, neighbouring relations, the search for the worst pair, shrinking."""
