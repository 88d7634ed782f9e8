"""The loops under the solvers, batched over trials."""
