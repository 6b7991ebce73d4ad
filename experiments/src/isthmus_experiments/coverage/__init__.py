"""Which published tables and figures are remade, how, and which cannot be."""
