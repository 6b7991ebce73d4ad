"""Files that somebody damaged or made to do harm: each is refused in one plain line."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import FunctionTransformer

import isthmus
from isthmus.files import ModelFileError, list_contents
from isthmus.files.contents import HEADER, SCHEMA, is_ours


def entries(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(content, **changes):
    """The archive with some entries replaced; None leaves one out."""
    parts = {**entries(content), **changes}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            if data is not None:
                archive.writestr(name, data)
    return buffer.getvalue()


def header(content, **changes):
    return json.dumps({**json.loads(entries(content)[HEADER]), **changes})


def refusal(path, content, match):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=match) as caught:
        isthmus.load(path)
    message = str(caught.value)
    assert message.startswith(f"model {path}: ")
    assert len(message.splitlines()) == 1
    return message


def test_damaged_truncated_and_foreign_files(whole, tmp_path):
    middle = len(whole) // 2
    flipped = bytes(b ^ 0xFF for b in whole[middle : middle + 200])
    for content in (
        b"",
        b"this is no model",
        whole[:middle],
        whole[:middle] + flipped + whole[middle + 200 :],
        whole[:-1],
    ):
        refusal(tmp_path / "m", content, "damaged or not a model file")
    with pytest.raises(ModelFileError, match="there is no such file"):
        isthmus.load(tmp_path / "nowhere")
    with pytest.raises(ModelFileError, match="there is no such file"):
        isthmus.load(tmp_path)


@pytest.mark.parametrize("name", [HEADER, SCHEMA])
def test_a_missing_entry_is_named(whole, tmp_path, name):
    refusal(tmp_path / "m", rewritten(whole, **{name: None}), f"it has no entry '{name}'")


def test_a_missing_array_is_one_line(whole, tmp_path):
    array = next(name for name in entries(whole) if name.endswith(".npy"))
    refusal(tmp_path / "m", rewritten(whole, **{array: None}), "damaged or not a model file")


@pytest.mark.parametrize("version", ["99", "99.0", "0.1.1", "1!0.0.1"])
def test_a_file_of_a_later_version_is_refused(whole, tmp_path, version):
    content = rewritten(whole, **{HEADER: header(whole, version=version)})
    refusal(tmp_path / "m", content, r"refused, it was written by isthmus .* later than this")


@pytest.mark.parametrize("version", ["", "new", None, 3, ["0.1.0"], "0.1.0\n\x1b[2J", "9" * 10**5])
def test_a_version_that_is_none_is_one_line(whole, tmp_path, version):
    content = rewritten(whole, **{HEADER: header(whole, version=version)})
    message = refusal(tmp_path / "m", content, "its version is|later than|damaged")
    assert len(message) < 500


def test_a_file_of_an_earlier_version_is_read(whole, tmp_path, fitted):
    path = tmp_path / "m"
    path.write_bytes(rewritten(whole, **{HEADER: header(whole, version="0.0.1")}))
    model, X = fitted
    np.testing.assert_array_equal(isthmus.load(path).predict(X), model.predict(X))


def test_another_format_is_named(whole, tmp_path):
    for text in (header(whole, format="isthmus model 1"), "[]", "7", '"x"'):
        refusal(
            tmp_path / "m", rewritten(whole, **{HEADER: text}), "expected the format 'isthmus model"
        )
    refusal(tmp_path / "m", rewritten(whole, **{HEADER: "{"}), "damaged or not a model file")


# Bombs ------------------------------------------------------------------------------


def peak_megabytes():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def test_a_bomb_of_zeros_is_refused_before_it_is_unpacked(whole, tmp_path):
    array = next(name for name in entries(whole) if name.endswith(".npy"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in entries(whole).items():
            if name != array:
                archive.writestr(name, data)
        with archive.open(array, "w") as stream:
            for _ in range(600):
                stream.write(bytes(2**20))
    before = peak_megabytes()
    message = refusal(tmp_path / "m", buffer.getvalue(), "unpacked it would take .* max_bytes=")
    assert "600 MB or more" in message
    assert peak_megabytes() - before < 100


def test_one_entry_that_many_objects_name_counts_many_times(tmp_path):
    path = tmp_path / "m"
    isthmus.save([np.zeros(2**17)], path)
    parts = entries(path.read_bytes())
    schema = json.loads(parts[SCHEMA])
    (node,) = schema["content"]
    schema["content"] = [{**node, "__id__": i + 1} for i in range(600)]
    content = rewritten(path.read_bytes(), **{SCHEMA: json.dumps(schema)})
    assert len(content) < 50_000
    refusal(path, content, "60. MB or more of memory, and the limit for it is 512 MB")


def test_an_archive_in_the_archive_counts_unpacked(tmp_path):
    path = tmp_path / "m"
    isthmus.save(scipy.sparse.csr_matrix(np.eye(3)), path)
    name = next(name for name in entries(path.read_bytes()) if name.endswith(".npz"))
    inner = io.BytesIO()
    with (
        zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("data.npy", "w") as stream,
    ):
        for _ in range(600):
            stream.write(bytes(2**20))
    refusal(path, rewritten(path.read_bytes(), **{name: inner.getvalue()}), "60. MB or more")


def test_a_schema_that_is_a_bomb_is_not_parsed(whole, tmp_path):
    text = "[" + ",".join(["[]"] * (10 * 2**20)) + "]"
    refusal(tmp_path / "m", rewritten(whole, **{SCHEMA: text}), "unpacked it would take")


def test_a_schema_nested_to_any_depth_is_one_line(whole, tmp_path):
    deep = "[" * 100_000 + "]" * 100_000
    refusal(tmp_path / "m", rewritten(whole, **{SCHEMA: deep}), "damaged or not a model file")


def test_the_limit_can_be_set(whole, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(whole)
    needed = list_contents(path).n_bytes
    isthmus.load(path, max_bytes=needed)
    with pytest.raises(ModelFileError, match="unpacked it would take"):
        isthmus.load(path, max_bytes=needed - 1)


# Code -------------------------------------------------------------------------------


def with_header(thing, whole):
    content = skops.io.dumps(thing)
    return rewritten(content, **{HEADER: header(whole)})


@pytest.mark.parametrize(
    "function", [os.system, eval, np.load, isthmus.load], ids=lambda f: f.__name__
)
def test_a_function_is_refused_and_listed(whole, tmp_path, function):
    content = with_header(FunctionTransformer(function), whole)
    refusal(tmp_path / "m", content, f"refused, it holds '.*{function.__name__}'")
    assert any(function.__name__ in name for name in list_contents(tmp_path / "m").types)


@pytest.mark.parametrize(
    ("name", "trusted"),
    [
        ("isthmus.structured.DependencyEstimator", True),
        ("isthmus.kernels.Gaussian", True),
        ("scipy.sparse._csr.csr_array", True),
        ("scipy.sparse._csr.sys", False),
        ("isthmus.structured.dependency.clone", False),
        ("isthmus.structured.DependencyEstimator.fit", False),
        ("isthmus.cli.errors.UserError", False),
        ("isthmus.files.contents.FileContents", False),
        ("isthmus.kernels._no_such.Kernel", False),
        ("isthmus.kernels..Kernel", False),
        ("isthmusx.kernels.Kernel", False),
        ("os.system", False),
        ("", False),
    ],
)
def test_only_classes_of_estimator_families_are_trusted(name, trusted):
    assert is_ours(name) is trusted


# Fuzzing ----------------------------------------------------------------------------

FUZZ = settings(
    max_examples=int(os.environ.get("ISTHMUS_FUZZ", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def assert_read_or_refused(path, content):
    path.write_bytes(content)
    message = "read"
    try:
        isthmus.load(path)
    except ModelFileError as error:
        message = str(error)
    assert len(message.splitlines()) == 1
    assert len(message) < 1000


@FUZZ
@given(data=st.data())
def test_random_bytes_in_a_file_are_read_or_refused(data, whole, tmp_path):
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    assert_read_or_refused(tmp_path / "m", bytes(content))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)


def nodes(value):
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from nodes(item)


@FUZZ
@given(data=st.data())
def test_a_schema_with_anything_anywhere_is_read_or_refused(data, whole, tmp_path):
    schema = json.loads(entries(whole)[SCHEMA])
    for _ in range(data.draw(st.integers(1, 3))):
        node = data.draw(st.sampled_from([n for n in nodes(schema) if n]))
        key = data.draw(
            st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node)))
        )
        node[key] = data.draw(JSON)
    content = rewritten(whole, **{SCHEMA: json.dumps(schema)})
    assert_read_or_refused(tmp_path / "m", content)


@FUZZ
@given(value=JSON)
def test_a_header_with_anything_in_it_is_read_or_refused(value, whole, tmp_path):
    for text in (json.dumps(value), header(whole, card=value), header(whole, version=value)):
        assert_read_or_refused(tmp_path / "m", rewritten(whole, **{HEADER: text}))
