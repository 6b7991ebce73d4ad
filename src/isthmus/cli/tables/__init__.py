"""Tables with named columns: reading, writing, choosing columns, what cells hold."""
