"""Codes with a penalty on absolute values."""
