import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus import datasets

GENERATORS = {
    "multilabel": lambda seed: datasets.make_multilabel(40, random_state=seed),
    "s_shape": lambda seed: datasets.make_s_shape(40, random_state=seed),
    "circle_map": lambda seed: datasets.make_circle_map(40, random_state=seed),
    "strings": lambda seed: datasets.make_strings(40, random_state=seed),
    "faces": lambda seed: (datasets.make_faces(3, 20, random_state=seed).images,),
    "noisy_digits": lambda seed: (datasets.load_noisy_digits(random_state=seed).noisy_train,),
}


@pytest.mark.parametrize("draw", GENERATORS.values(), ids=GENERATORS.keys())
def test_a_seed_fixes_the_draw_and_another_seed_changes_it(draw):
    for first, second in zip(draw(3), draw(3), strict=True):
        assert_array_equal(first, second)
    assert any(not np.array_equal(a, b) for a, b in zip(draw(3), draw(4), strict=True))


def test_nearly_every_sample_has_a_label_vector_of_its_own():
    X, Y = datasets.make_multilabel(1000, random_state=0)
    assert X.shape == (1000, 50)
    assert Y.shape == (1000, 20)
    assert set(np.unique(Y)) == {0.0, 1.0}
    assert len(np.unique(Y, axis=0)) > 950
    assert_allclose(Y.mean(), 0.5, atol=0.02)


def test_the_s_shape_without_noise_is_its_formula():
    r, y = datasets.make_s_shape(50, noise=0.0, random_state=1)
    assert_allclose(r, y + 0.3 * np.sin(2 * np.pi * y), rtol=1e-14)
    assert r.shape == y.shape == (50, 1)


def test_the_circle_map_has_outputs_on_the_circle_on_both_sides_of_an_input():
    X, Y = datasets.make_circle_map(500, noise=0.0, random_state=0)
    assert_allclose((Y**2).sum(axis=1), 1.0, rtol=1e-12)
    assert_array_equal(X[:, 0], Y[:, 0])
    middle = abs(X[:, 0]) < 0.2
    assert Y[middle, 1].min() < -0.9
    assert Y[middle, 1].max() > 0.9


def test_misspelt_words_have_few_distinct_answers():
    noisy, clean = datasets.make_strings(300, noise=0.3, random_state=0)
    assert len(set(clean)) == 8
    assert len(set(noisy)) > 100
    assert all(noisy)


def test_a_head_is_brighter_than_the_background_and_fills_the_middle():
    faces = datasets.make_faces(6, 32, n_identities=2, random_state=0)
    assert faces.X.shape == (6, 32 * 32)
    assert faces.images.min() >= 0
    assert faces.images.max() <= 1
    background = faces.images[:, 0, 0]
    assert_allclose(background, background[0])
    assert (faces.images[:, 12:20, 12:20].mean(axis=(1, 2)) > 1.5 * background).all()
    assert_array_equal(faces.identity[0], faces.identity[2])


def test_light_from_the_left_of_the_picture_brightens_its_left():
    faces = datasets.make_faces(40, 24, random_state=0)
    left, right = faces.images[:, :, :12], faces.images[:, :, 12:]
    difference = right.mean(axis=(1, 2)) - left.mean(axis=(1, 2))
    assert np.corrcoef(difference, faces.light[:, 0])[0, 1] > 0.5
