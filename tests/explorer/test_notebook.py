"""The page in a notebook, on a real kernel."""

import re
import urllib.request

import pytest

nbclient = pytest.importorskip("nbclient", reason="needs nbclient: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="needs ipykernel: pip install nbclient ipykernel")
from nbformat.v4 import new_code_cell, new_notebook  # noqa: E402

FIT = """
import numpy as np
import isthmus
from isthmus.features import KernelPCA

X = np.random.default_rng(0).normal(size=(40, 3))
page = isthmus.explore(KernelPCA(2, kernel="linear").fit(X), X)
page
"""


def test_a_cell_shows_the_page_and_another_ends_it():
    cells = [new_code_cell(FIT), new_code_cell("page.close()\nprint(page.wait(0))")]
    client = nbclient.NotebookClient(new_notebook(cells=cells), timeout=120, kernel_name="python3")
    with client.setup_kernel():
        (shown,) = client.execute_cell(cells[0], 0).outputs
        assert shown["output_type"] == "execute_result"
        found = re.search(
            r'<iframe src="(http://127\.0\.0\.1:\d+/[\w-]+)"', shown.data["text/html"]
        )
        with urllib.request.urlopen(found[1], timeout=60) as answer:
            assert b"40 rows" in answer.read()
        (closed,) = client.execute_cell(cells[1], 1).outputs
    assert closed["text"] == "True\n"
