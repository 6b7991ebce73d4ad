"""How well an embedding keeps neighbours, and a manifold new rows."""
