"""Linkage on odd input: a defined result, or a message that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.adversary.files import adversary_from_files
from anonymizer.config.load import load_config
from anonymizer.data.open import open_frame
from anonymizer.errors import InputError
from anonymizer.plan.plan import plan_of
from tests.attacks.published import invalid
from tests.helpers.linkage import EVERY, linkage, noisy
from tests.helpers.linkage import frame_scene as scene
from tests.helpers.messages import exchange


@pytest.mark.slow
def test_a_constant_attribute_changes_nothing():
    original, masked = noisy(10)
    expected = [linkage(scene(original, masked), aligned=True, **each).success for each in EVERY[:5]]
    given_scene = scene(original.assign(d=1), masked.assign(d=1))
    assert [linkage(given_scene, aligned=True, **each).success for each in EVERY[:5]] == pytest.approx(
        expected
    )
    linkage(given_scene, aligned=True, linkage="probabilistic")
    linkage(given_scene, aligned=True, linkage="learned")


@pytest.mark.parametrize("parameters", EVERY, ids=str)
def test_one_record_is_found(parameters):
    frame = pd.DataFrame({"a": [1], "b": [2.5]})
    found = linkage(scene(frame, frame + 1), aligned=True, **parameters)
    assert (found.success, found.baseline, found.records) == (1, 1, 1)


@pytest.mark.quick(3)
@pytest.mark.parametrize("parameters", EVERY, ids=str)
def test_missing_values_have_a_place(parameters):
    original, masked = noisy(11)
    original.loc[:4, "a"] = np.nan
    masked.loc[:4, "a"] = np.nan
    masked.loc[5:9, "b"] = np.nan
    found = linkage(scene(original, masked), aligned=True, **parameters)
    assert 0.2 < found.success <= 1


def test_columns_of_one_file_only_are_named(message):
    original, masked = noisy(12)
    given_scene = scene(original.assign(x=1), masked.assign(y=2))
    found = linkage(given_scene, aligned=True)
    assert found.details["left_out"] == {"release": ["y"], "original": ["x"]}
    assert found.knowledge["attributes"] == ["a", "b", "c"]
    with pytest.raises(InputError) as refused:
        linkage(given_scene, aligned=True, knowledge=["y"])
    assert exchange("knowledge: [y]", refused.value) == message


def test_files_without_a_common_column_are_refused(message):
    original, masked = noisy(13)
    with pytest.raises(InputError) as refused:
        scene(original.add_prefix("other "), masked)
    assert exchange("no common column", refused.value) == message


def test_a_share_of_no_record_is_refused(message):
    original, masked = noisy(14)
    with pytest.raises(InputError) as refused:
        linkage(scene(original, masked), aligned=True, overlap=0.001)
    assert exchange("overlap: 0.001", refused.value) == message


def test_an_overlap_without_released_records_is_refused(message):
    original, _ = noisy(14)
    given_scene = scene(original, original[:1])
    with pytest.raises(InputError) as refused:
        linkage(given_scene, overlap=0.1)
    assert exchange("overlap: 0.1", refused.value) == message
    assert linkage(given_scene).success == 1


def test_people_that_the_original_lacks_are_counted():
    original, _ = noisy(16)
    found = linkage(scene(original[:40], original))
    assert found.details["without_original"] == 20
    assert found.details["truth"] == "reconstructed"
    assert (found.records, found.success, found.baseline * 60) == (40, 1, 1)


def test_a_release_without_quasi_identifiers_is_refused():
    _original, masked = noisy(13)
    config = load_config(
        {
            "input": {"path": "x.csv"},
            "attributes": {"z": {"role": "quasi-identifier"}},
            "constraints": [{"model": "k-anonymity", "k": 1}],
        }
    )
    with open_frame(masked) as release, pytest.raises(InputError, match="no quasi-identifier of config"):
        adversary_from_files(plan_of(config), release)


def test_masked_numbers_do_not_reveal_links(message):
    original, masked = noisy(15)
    with pytest.raises(InputError) as refused:
        linkage(scene(original, masked))
    assert exchange("masked numbers", refused.value) == message
    with pytest.raises(InputError) as refused:
        linkage(scene(original, masked[:-1]), aligned=True)
    assert exchange("aligned: true", refused.value) == message


@pytest.mark.parametrize(
    "parameters",
    [
        {"distance": "rank", "linkage": "probabilistic"},
        {"distance": "rank", "linkage": "learned"},
        {"false_links": 0.1},
        {"proof": 3},
        {"metric": True},
        {"swap_range": 5},
        {"overlap": 0},
        {"targets": 0},
    ],
    ids=str,
)
def test_parameters_that_do_not_fit_together_are_refused(parameters, message):
    assert exchange(parameters, invalid("linkage", parameters)) == message
