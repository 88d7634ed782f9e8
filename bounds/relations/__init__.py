"""Relations between numbers: which hold, which follow from others, how they are solved and grow. No claim is needed."""
