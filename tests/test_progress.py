"""One line on a terminal, nothing in a pipe."""

import sys

from isthmus._progress import ProgressLine


class Terminal:
    def __init__(self, is_terminal):
        self.is_terminal, self.text = is_terminal, ""

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def shown(monkeypatch, *, verbose, terminal):
    stream = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressLine("fit", verbose=verbose, every=0.0) as line:
        line.update(step=1, objective=0.123456)
        line.update(step=2, objective=0.1)
    return stream.text


def test_a_terminal_gets_one_line_rewritten(monkeypatch):
    text = shown(monkeypatch, verbose=1, terminal=True)
    assert "step 2  objective 0.1  " in text
    assert "0.1235" in text
    assert text.count("\n") == 1


def test_a_pipe_gets_nothing(monkeypatch):
    assert shown(monkeypatch, verbose=1, terminal=False) == ""


def test_silence_is_the_default(monkeypatch):
    assert shown(monkeypatch, verbose=0, terminal=True) == ""
