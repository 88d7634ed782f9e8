"""Programs for who works on dpcheck; what several of them share."""
