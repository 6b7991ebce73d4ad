"""Movements: their elements, blends, cuts and place in space."""
