"""One file an experiment. To add one, write a function and decorate it.

A file here registers itself when the register is first asked::

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
