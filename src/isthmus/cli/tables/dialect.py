"""How a csv file separates its cells and writes its decimals."""

import csv
import gzip
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from isthmus.cli.errors import UserError

SEPARATORS = (",", ";", "\t", "|")
_N_SAMPLED = 50
_MAX_LINE = 2**24
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """The signs of a csv file; None is recognised from its first rows."""

    sep: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.sep is not None and len(self.sep) != 1:
            raise UserError(f"--sep must be one character, got {self.sep!r}")
        if self.decimal not in (None, ".", ","):
            raise UserError(f"--decimal must be . or , and not {self.decimal!r}")


def recognise(path: Path, asked: Dialect) -> tuple[Dialect, list[str]]:
    """Return the signs of a csv file and its header."""
    lines = _first_lines(path)
    if not any(lines):
        return Dialect(asked.sep or ",", asked.decimal or "."), []
    rows = {sep: _split(lines, sep) for sep in ([asked.sep] if asked.sep else SEPARATORS)}
    sep = asked.sep or _best(rows)
    header, *body = rows[sep]
    _check_header(path, header, body, sep)
    decimal = asked.decimal or _decimal_sign(body, sep)
    return Dialect(sep, decimal), header


def _first_lines(path: Path) -> list[str]:
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
        lines = []
        while len(lines) < _N_SAMPLED and (line := stream.readline(_MAX_LINE)):
            lines.append(line)
    return lines


def _split(lines: list[str], sep: str) -> list[list[str]]:
    # A cell may be long; the limit of the csv module is not ours.
    limit = csv.field_size_limit(_MAX_LINE)
    try:
        reader = csv.reader(lines, delimiter=sep, skipinitialspace=False)
        return [row for row in islice(reader, _N_SAMPLED) if row] or [[]]
    except csv.Error as error:
        raise ValueError(f"not a csv table: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _best(rows: dict[str, list[list[str]]]) -> str:
    """The comma if every sampled row agrees with the header by it, else the sign that does so."""
    agreeing = [
        sep
        for sep, (header, *body) in rows.items()
        if len(header) > 1 and all(len(row) == len(header) for row in body)
    ]
    if agreeing:
        return agreeing[0]
    return max(rows, key=lambda sep: (len(rows[sep][0]), sep == ","))


def _check_header(path: Path, header: list[str], body: list[list[str]], sep: str) -> None:
    for number, row in enumerate(body, start=1):
        if len(row) > len(header):
            raise UserError(
                f"table {path}: the header names {len(header)} columns, but row {number} has "
                f"{len(row)} cells; give every column a name, or say --sep if {sep!r} does not "
                "separate them"
            )
    named_nul = [name for name in header if "\0" in name]
    if named_nul:
        raise UserError(f"table {path}: the header holds a NUL character: this is not a csv file")


def _decimal_sign(body: list[list[str]], sep: str) -> str:
    cells = [cell for row in body for cell in row if len(cell) < 40]
    comma = any(_COMMA_NUMBER.fullmatch(cell) for cell in cells)
    point = any(_POINT_NUMBER.fullmatch(cell) for cell in cells)
    return "," if sep != "," and comma and not point else "."
