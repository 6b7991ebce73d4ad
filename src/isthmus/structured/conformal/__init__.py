"""Sets that hold the true output with a chosen probability."""
