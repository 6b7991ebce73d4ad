"""Embeddings that keep distances, with a map back by local regression."""
