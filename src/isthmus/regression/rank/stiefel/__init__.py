"""Regression of limited rank under any loss."""
