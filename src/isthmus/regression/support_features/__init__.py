"""Few features that separate or predict."""
