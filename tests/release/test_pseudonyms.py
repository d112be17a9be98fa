"""Numbers in place of the keys of persons."""

from __future__ import annotations

import numpy as np

from anonymizer.data.relation import Projection
from anonymizer.release.query import with_pseudonyms


def test_a_person_has_one_number_and_each_record_of_nobody_its_own() -> None:
    units = np.array([4, -1, 4, -1, 7, 7, 9])
    kept = np.array([True, True, True, True, True, False, False])
    replaced = with_pseudonyms(Projection(("who", "age"), {}, kept), "who", units).replacements["who"]
    numbers = np.array(replaced.labels)[replaced.codes][kept]
    assert numbers[0] == numbers[2]
    assert sorted(set(numbers.tolist())) == [1, 2, 3, 4]
