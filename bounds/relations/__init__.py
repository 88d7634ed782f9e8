"""Relations between numbers: which hold, which follow from others, which contradict each other. No claim is needed."""
