"""What `ultracluster check` finds of each defect of the tables stays found.

Others wrote the tables; the list of found codes is what our rules said of them when it was accepted, by
`python -m tests.deep.template_defects --accept`. So this is no judge of the rules, it only shows that one has changed.
"""

import json

import pytest
from tests.deep.template_defects.judge import FOUND_CODES, found_codes, judged_base
from tests.deep.template_defects.templates import BLIND_SETS, blind_names, names

ACCEPTED: dict[str, dict[str, list[str]]] = json.loads(FOUND_CODES.read_text())


@pytest.mark.parametrize("kind", sorted(ACCEPTED))
def test_the_codes_found_of_each_defect_are_the_accepted_ones(kind: str) -> None:
    assert found_codes(kind) == ACCEPTED[kind]


def test_each_kind_of_defect_is_in_the_list_and_most_are_found() -> None:
    assert {"cross_resource", "hpc", "life_cycle", "limits", "money", "security"} <= set(ACCEPTED)
    codes = [codes for defects in ACCEPTED.values() for codes in defects.values()]
    assert sum(map(bool, codes)) > len(codes) / 2


def test_what_is_found_in_sound_templates_was_judged_and_is_right_but_for_one_kind() -> None:
    bases = [*names(), *(name for blind in BLIND_SETS for name in blind_names(blind))]
    found = [row for name in bases for row in judged_base(name)]

    assert [(name, kind) for name, kind, verdict in found if not verdict] == []
    wrong = {kind for _, kind, verdict in found if not verdict.startswith("right, ")}
    assert {kind.split()[0] for kind in wrong} == {"UC6454"}  # a bucket that another account is to read
