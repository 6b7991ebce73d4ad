"""Peers' own tests against ours: their files as installed, their names bound to our functions."""
