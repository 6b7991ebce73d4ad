"""Columns by name, by pattern, by position and by group."""

import csv
import re
from difflib import get_close_matches
from fnmatch import fnmatchcase

from isthmus.cli.errors import UserError
from isthmus.cli.tables.table import Table


def split_names(text: str, option: str) -> list[str]:
    """Split ``a,b`` at commas; a name that has one stands in double quotes."""
    try:
        names = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise UserError(f"{option}: {error}") from error
    names = [name.strip() for name in names if name.strip()]
    if not names:
        raise UserError(f"{option} names no column")
    return names


def find_columns(table: Table, names: list[str], *, role: str, groups: bool = False) -> list[str]:
    """Return the columns that ``names`` stand for.

    With ``groups``, ``Y`` may stand for ``Y_0, Y_1, …``, ``*_mm`` for all names that match, ``3``
    or ``2:5`` for positions, counted from 1, the last included.
    """
    found: list[str] = []
    for name in names:
        if name in table.places:
            found.append(name)
            continue
        several = _several(table, name) if groups else []
        if not several:
            raise UserError(
                f"table {table.path}: {role} column {name!r} is missing; {_hint(table, name)}"
            )
        found.extend(several)
    seen: set[str] = set()
    for name in found:
        if name in seen:
            raise UserError(f"{role} column {name!r} is named twice")
        seen.add(name)
    return found


def _several(table: Table, name: str) -> list[str]:
    if name in table.groups:
        return table.groups[name]
    if any(sign in name for sign in "*?["):
        return [column for column in table.names if fnmatchcase(column, name)]
    position = re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?", name)
    if position:
        first = int(position[1])
        last = int(position[2] or first)
        if 1 <= first <= last <= len(table.names):
            return table.names[first - 1 : last]
        raise UserError(
            f"table {table.path}: there is no column {name}: positions run from 1 to "
            f"{len(table.names)}"
        )
    return []


def _hint(table: Table, name: str) -> str:
    # Comparing with every one of thousands of names would take long.
    close = get_close_matches(name[:100], [n for n in table.names[:2000] if len(n) < 100], n=3)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(repr(column[:40]) for column in table.names[:8])
    more = f" and {len(table.names) - 8} more" if len(table.names) > 8 else ""
    return f"the table has {shown}{more}"
