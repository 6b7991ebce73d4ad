"""Tables to files and to the screen."""

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd

from isthmus.cli.errors import printable
from isthmus.cli.tables.read import _need_pyarrow, find_suffix
from isthmus.files.atomic import replacing
from isthmus.files.cells import defused


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write ``frame`` in the format its suffix names; an existing file is replaced at the end."""
    suffix = find_suffix(path)
    with replacing(path) as temporary:
        if suffix == ".parquet":
            _need_pyarrow(path)
            frame.to_parquet(temporary, index=False)
        elif suffix == ".npz":
            np.savez(temporary, **{name: _plain(frame[name]) for name in frame})
        else:
            without_formulas(frame).to_csv(temporary, index=False)


def write_csv(frames: Iterable[pd.DataFrame], stream: TextIO, *, screen: bool) -> None:
    """Write batches of rows one after the other, the header once.

    Where ``screen`` is true, text loses what a terminal would take for a command.
    """
    for i, frame in enumerate(frames):
        safe = without_formulas(frame)
        if screen:
            safe = _map_text(safe, printable)
        safe.to_csv(stream, index=False, header=i == 0, lineterminator="\n")


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe before text that a spreadsheet would calculate."""
    return _map_text(frame, defused)


def _map_text(frame, change):
    text = {
        i: frame.iloc[:, i].map(lambda cell: change(cell) if isinstance(cell, str) else cell)
        for i in range(frame.shape[1])
        if frame.dtypes.iloc[i].kind not in "fiub"
    }
    columns = [text.get(i, frame.iloc[:, i]) for i in range(frame.shape[1])]
    changed = pd.concat(columns, axis=1) if columns else frame.copy()
    changed.columns = [change(str(name)) for name in frame.columns]
    return changed


def _plain(column):
    values = column.to_numpy()
    return values.astype(str) if values.dtype.kind not in "fiub" else values
