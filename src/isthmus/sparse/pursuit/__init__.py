"""Greedy pursuits: few atoms for each signal."""
