"""One file per experiment, named after its id. To add one, write a function and decorate it.

The file of ``E-99`` is ``e_99.py``; it is loaded, and registers itself, when ``E-99`` is asked
for. Files that begin with an underscore hold what several experiments share::

    from isthmus_experiments import Outcome, Row, experiment

    @experiment(
        "E-99",
        document="[000] 9.9, table 9.9",
        title="What is tried",
        published="What the document says came out.",
        quick={"n": 50},
        full={"n": 500},
    )
    def run(settings, seed, progress):
        ...
        return Outcome([Row("error", 0.26, error, "below the published value", error < 0.26)])
"""
