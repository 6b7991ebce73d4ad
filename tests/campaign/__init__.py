"""The campaign: every public estimator under bad data, bad parameters, interrupts and odd units.

``make campaign`` runs all of it and prints what was tried, answered, refused clearly, and the
defects; a share runs with the other tests. An estimator that is added to a family is in it.
"""
