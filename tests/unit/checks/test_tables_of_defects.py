"""What `ultracluster check` finds of each defect of the tables stays found.

Others wrote the tables; the list of found codes is what our rules said of them when it was accepted, by
`python -m tests.deep.template_defects --accept`. So this is no judge of the rules, it only shows that one has changed.
"""

import json

import pytest
from tests.deep.template_defects.judge import FOUND_CODES, found_codes

ACCEPTED: dict[str, dict[str, list[str]]] = json.loads(FOUND_CODES.read_text())


@pytest.mark.parametrize("kind", sorted(ACCEPTED))
def test_the_codes_found_of_each_defect_are_the_accepted_ones(kind: str) -> None:
    assert found_codes(kind) == ACCEPTED[kind]


def test_each_kind_of_defect_is_in_the_list_and_most_are_found() -> None:
    assert {"cross_resource", "hpc", "life_cycle", "limits", "money", "security"} <= set(ACCEPTED)
    codes = [codes for defects in ACCEPTED.values() for codes in defects.values()]
    assert sum(map(bool, codes)) > len(codes) / 2
