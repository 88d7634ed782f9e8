"""Where and how trials run: plan, pilot, chunks, processes, clusters, checkpoints."""
