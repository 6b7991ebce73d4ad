"""Tables that are dropped on a page: read within bounds, matched to the columns of the model."""

import io

import numpy as np

from isthmus._extras import load_extra
from isthmus.explorer.rows import DoesNotFit, Rows, make_rows

MOST_BYTES = 50_000_000
MOST_ROWS = 20_000


def rows_of_file(name: str, content: bytes, like: Rows) -> Rows:
    """Return the rows of a csv, npz or parquet file that have the columns of ``like``.

    Columns are found by name; where the model's have none, there must be as many numbers in a row.
    """
    if len(content) > MOST_BYTES:
        raise DoesNotFit(f"the table has {len(content)} bytes; a page takes {MOST_BYTES}")
    if not like.is_table:
        raise DoesNotFit("tables can be dropped only where objects are rows of numbers")
    frame = _frame(name, content)
    if len(frame) == 0:
        raise DoesNotFit(f"table {name[:80]!r} is empty")
    frame = frame[:MOST_ROWS]
    wanted = like.names
    if wanted:
        frame.columns = [str(c) for c in frame.columns]
        absent = [c for c in wanted if c not in set(frame.columns)]
        if absent:
            raise DoesNotFit(
                f"table {name[:80]!r} does not fit the model: it has no column {absent[0][:60]!r}"
                + (f" and lacks {len(absent) - 1} others" if len(absent) > 1 else "")
            )
        frame = frame[wanted]
    else:
        frame = frame.select_dtypes("number")
        if frame.shape[1] != like.objects.shape[1]:
            raise DoesNotFit(
                f"table {name[:80]!r} does not fit the model: it has {frame.shape[1]} columns of "
                f"numbers, expected {like.objects.shape[1]}"
            )
    try:
        values = frame.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise DoesNotFit(f"table {name[:80]!r} has cells that are no numbers: {error}") from error
    whole = np.isfinite(values).all(axis=1)
    if not whole.any():
        raise DoesNotFit(f"table {name[:80]!r} has no row without gaps")
    return make_rows(values[whole], names=wanted or None)


def _frame(name: str, content: bytes):
    pd = load_extra("pandas", "explore", "isthmus.explore")
    try:
        if name.lower().endswith(".parquet"):
            return pd.read_parquet(io.BytesIO(content))
        if name.lower().endswith(".npz"):
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                first = next(iter(arrays.values()))
                return pd.DataFrame(first.reshape(len(first), -1))
        first = content[:4096].decode("utf-8", "replace").partition("\n")[0]
        sign = max(",;\t", key=first.count)
        return pd.read_csv(io.BytesIO(content), sep=sign, nrows=MOST_ROWS)
    except Exception as error:  # whatever a reader stumbles over
        reason = " ".join(str(error).split())[:200]
        raise DoesNotFit(f"table {name[:80]!r} cannot be read: {reason}") from error
