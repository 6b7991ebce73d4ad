"""Features and kernels of poses."""
