"""Errors that the user can fix, and text that is safe to show on a terminal."""

import re

from isthmus.files.atomic import replacing, writable_target

__all__ = ["UserError", "check_target", "one_line", "printable", "replacing"]

MAX_LINE = 400
# Escape sequences could rewrite what stands on the screen; NUL ends a string elsewhere.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class UserError(Exception):
    """An error that the user can fix; the command line shows it as one line."""


def printable(text: object) -> str:
    """Return the text without control characters, which a terminal would obey."""
    shown = _CONTROL.sub(
        lambda found: " " if found[0].isspace() else "\N{REPLACEMENT CHARACTER}", str(text)
    )
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", shown)


def one_line(message: object) -> str:
    """Return the message without line breaks or control characters, cut to a line's length."""
    line = " ".join(printable(str(message)[: 20 * MAX_LINE]).split())
    if len(line) <= MAX_LINE:
        return line
    # What is long is a name or a cell; the beginning says where, the end what to do.
    half = MAX_LINE // 2
    return f"{line[:half]} … {line[-half:]}"


check_target = writable_target
