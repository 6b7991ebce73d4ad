"""Speed, memory and accuracy against the peers: ``make bench``, or ``python -m benchmarks``.

A benchmark is a function in a file ``bench_<family>.py``, decorated with
:func:`benchmarks._harness.benchmark`; a new file is found by its name.
"""
