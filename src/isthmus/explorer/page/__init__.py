"""The live page: a figure to walk in, fields to ask with, and the local server behind them."""
