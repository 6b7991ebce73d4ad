"""Losses of sequences, series and graphs by what it takes to turn one into another."""
