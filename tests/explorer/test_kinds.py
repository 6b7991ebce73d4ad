"""Every kind of object is drawn as well-formed text, guessed from what it looks like."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from sklearn.datasets import load_digits

from isthmus.datasets import make_faces
from isthmus.explorer.kinds.artist import artist_for
from isthmus.explorer.kinds.choice import KindError, numeric_names, parse_kind
from isthmus.explorer.kinds.picture import png, svg, text
from isthmus.kernels import LabelledGraph
from isthmus.robotics import pa10

RNG = np.random.default_rng(0)
TAG = "<script>alert(1)</script>"
SPECTRA = np.cumsum(RNG.normal(size=(20, 60)), axis=1)
SHARES = RNG.dirichlet(np.ones(5), 20)
GRAPHS = [LabelledGraph("CCO", [(0, 1), (1, 2)]), LabelledGraph(["<b>"])]
NUMBERS = RNG.normal(size=(20, 4))
SAMPLES = {
    "image": (load_digits().data[:50], None),
    "curve": (SPECTRA, [f"{400 + 2.5 * i}" for i in range(60)]),
    "bars": (SHARES, list("abcde")),
    "labels": ((RNG.random((20, 4)) < 0.5).astype(float), ["sun", "sea", TAG, "hill"]),
    "graph": (GRAPHS, None),
    "sequence": (["ACGT", "AC<b>"], None),
    "numbers": (NUMBERS, [TAG, "b", "c", "d"]),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_kind_is_guessed_and_drawn(name):
    objects, names = SAMPLES[name]
    artist = artist_for(objects, names=names)
    assert artist.kind.name == name
    for thing in (objects[0], objects[1]):
        drawn = ET.fromstring(artist.svg(thing, TAG, standalone=True))
        assert drawn.get("aria-label") == TAG
        assert not [e for e in drawn.iter() if e.tag.endswith(("script", "}b"))]
    assert ET.fromstring(svg(artist.strip(objects[:2]), "strip", standalone=True)) is not None


def test_series_and_sets_are_known_by_what_they_are():
    assert artist_for([np.zeros(5), np.ones(7)]).kind.name == "curve"
    assert artist_for([{"a"}, {"b", "c"}]).kind.name == "labels"
    assert "∅" in artist_for([{"a"}, set()]).svg(set(), "none")


def test_pictures_of_several_sizes_are_images_too():
    assert artist_for(make_faces(20, 16, random_state=0).X).kind.shape == (16, 16)
    colors = np.repeat(make_faces(20, 12, random_state=0).X, 3, axis=1)
    assert artist_for(colors).kind.shape == (12, 12, 3)
    assert "data:image/png" in artist_for(colors).svg(colors[0], "face")


@pytest.mark.parametrize("chain", [pa10(), parse_kind("chain:1,1,0.5").chain])
def test_postures_are_drawn_from_the_last_columns(chain):
    rows = RNG.uniform(-1, 1, size=(4, chain.n_joints + 3))
    artist = artist_for(rows, kind=chain)
    assert artist.kind.name == "chain"
    moved = rows[0].copy()
    moved[:3] += 1  # not a joint
    assert artist.svg(rows[0], "arm") == artist.svg(moved, "arm")
    moved[-2] += 1
    assert artist.svg(rows[0], "arm") != artist.svg(moved, "arm")


def test_a_symbol_has_one_colour_in_all_pictures():
    artist = artist_for(["ACGT", "GGT"])
    first, second = (ET.fromstring(artist.svg(word, "word")) for word in ("ACGT", "GGT"))
    assert first[2].get("fill") == second[0].get("fill") != first[3].get("fill")
    ring = LabelledGraph("CCOCC", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (1, 3)])
    drawn = ET.fromstring(artist_for([ring, LabelledGraph("NO", [(0, 1)])]).svg(ring, "ring"))
    assert len({e.get("fill") for e in drawn.iter() if e.tag.endswith("circle")}) == 2
    assert len([e for e in drawn.iter() if e.tag.endswith("path")]) == 7


def test_words_in_a_strip_are_not_larger_than_alone():
    artist = artist_for(NUMBERS, names=list("abcd"))
    strip = artist.strip(NUMBERS[:9])
    assert strip.width < 9 * 170
    assert strip.height < 96


def test_an_axis_has_room_for_its_numbers():
    picture = artist_for(np.abs(SPECTRA) + 1.23456789e-8, kind="curve").picture(SPECTRA[0])
    labels = [e.text for e in ET.fromstring(f"<g>{picture.body}</g>").iter("text")]
    assert labels[1] == "0"
    assert max(map(len, labels[:2])) <= 5


def test_strokes_lift_the_pen():
    way = np.array([[0.0, 0, 1], [1, 1, 1], [2, 0, 0], [3, 1, 1], [4, 0, 1]])
    assert artist_for([way, way], kind="strokes").svg(way, "sign").count("<path") == 2


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("photo", "'photo' is unknown: expected one of image, curve"),
        ("image:28", "expected image:HEIGHTxWIDTH"),
        ("image:3x3", "does not fit rows of 4 numbers"),
        ("curve:a-b", "expected curve:FIRST-LAST"),
        ("chain:1,x", "expected chain:pa10"),
        ("chain:pa10", "has 7 joints, a row has 4 numbers"),
        ("bars:3", "bars takes no details"),
        ("sequence", "does not fit rows of numbers"),
    ],
)
def test_a_kind_that_does_not_fit_says_what_would(told, message):
    with pytest.raises(KindError, match=message):
        artist_for(NUMBERS, kind=told)
    assert "\n" not in message


def test_names_of_columns_may_be_an_axis():
    assert numeric_names(["400nm", "402nm", "404.5nm"]).tolist() == [400.0, 402.0, 404.5]
    assert numeric_names(["x_0", "x_1", "x_2"]) is None  # counted, not measured
    assert numeric_names(["a", "b"]) is None


def test_png_has_the_pixels_that_were_given():
    imread = pytest.importorskip("matplotlib.image").imread
    import io

    pixels = RNG.integers(0, 256, size=(5, 7), dtype=np.uint8)
    assert np.array_equal(np.round(255 * imread(io.BytesIO(png(pixels)))), pixels)


def test_text_is_escaped_and_cut():
    assert text(TAG) == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert len(text("a" * 500)) == 60
    assert text("a\x1b[2J") == "a�[2J"
