"""Linkage on odd input: a defined result, or a message that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.attacks.linkage.attack import Linkage
from anonymizer.config.load import load_config
from anonymizer.data.open import open_frame
from anonymizer.errors import InputError
from anonymizer.run.adversary import adversary_from_files
from anonymizer.run.plan import plan_of
from tests.helpers.linkage import EVERY, linkage, noisy
from tests.helpers.linkage import frame_scene as scene


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


@pytest.mark.parametrize("parameters", EVERY, ids=str)
def test_missing_values_have_a_place(parameters):
    original, masked = noisy(11)
    original.loc[:4, "a"] = np.nan
    masked.loc[:4, "a"] = np.nan
    masked.loc[5:9, "b"] = np.nan
    found = linkage(scene(original, masked), aligned=True, **parameters)
    assert 0.2 < found.success <= 1


def test_columns_of_one_file_only_are_named():
    original, masked = noisy(12)
    given_scene = scene(original.assign(x=1), masked.assign(y=2))
    found = linkage(given_scene, aligned=True)
    assert found.details["left_out"] == {"release": ["y"], "original": ["x"]}
    assert found.knowledge["attributes"] == ["a", "b", "c"]
    with pytest.raises(InputError, match="'y', which is not a quasi-identifier"):
        linkage(given_scene, aligned=True, knowledge=["y"])


def test_files_without_a_common_column_are_refused():
    original, masked = noisy(13)
    with pytest.raises(InputError, match=r"shares no quasi-identifier with .*which has a, b, c"):
        scene(original.add_prefix("other "), masked)


def test_a_share_of_no_record_is_refused():
    original, masked = noisy(14)
    with pytest.raises(InputError, match=r"overlap 0\.001 of 60 records rounds to zero records"):
        linkage(scene(original, masked), aligned=True, overlap=0.001)


def test_who_holds_nobody_of_the_release_is_told_so():
    original, _ = noisy(14)
    given_scene = scene(original, original[:1])
    with pytest.raises(InputError, match="none of the 6 records held by the adversary is in the release"):
        linkage(given_scene, overlap=0.1)
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


def test_masked_numbers_do_not_tell_which_record_is_whose():
    original, masked = noisy(15)
    attack = Linkage()
    assert "aligned: true" in attack.missing_requirement(scene(original, masked))
    with pytest.raises(InputError, match="aligned: true"):
        linkage(scene(original, masked))
    with pytest.raises(InputError, match="as many rows as the release"):
        linkage(scene(original, masked[:-1]), aligned=True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"distance": "rank", "linkage": "probabilistic"}, "not by a distance"),
        ({"distance": "rank", "linkage": "learned"}, "nothing to learn"),
        ({"false_links": 0.1}, "need linkage: probabilistic"),
        ({"proof": 3}, "needs linkage: learned"),
        ({"metric": True}, "distance: bilinear"),
        ({"overlap": 0}, "greater than 0"),
        ({"targets": 0}, "greater than or equal to 1"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Linkage.Settings.model_validate(parameters)
