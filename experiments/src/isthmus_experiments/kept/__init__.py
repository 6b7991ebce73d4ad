"""Results that are kept in files: draws that accumulate, records of full runs, pages of them."""
