"""Local principal components, and charts made of them."""
