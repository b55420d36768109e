"""What `ultracluster validate` finds of each defect of the tables stays found.

Others wrote the tables; the list of found codes is what our rules said of them when it was accepted, by
`python -m tests.deep.template_defects --accept`. So this is no judge of the rules, it only shows that one has changed.
A part of the defects shows that here; tests/deep/test_template_defects.py compares all.
"""

import json
from collections import Counter

import pytest
from tests.deep.template_defects.defects import blind_defects, defects, second_defects
from tests.deep.template_defects.judge import FOUND_CODES, found_codes, judged_base
from tests.deep.template_defects.templates import BLIND_SETS, blind_names, names

# What is shared with another account on purpose, and what the fifth set showed first. A rule that is mended leaves this set.
KNOWN_TO_BE_WRONG = {
    ("data_and_roles", "UC6454"),
    ("lustre_dra", "UC5210"),
    ("lustre_dra", "UC6454"),
    ("neuron_ami_bake", "UC6454"),
    ("research_access", "UC6425"),
    ("research_access", "UC6454"),
    ("train_storage", "UC5210"),
    ("trn_vpc", "UC3211"),
}

ACCEPTED: dict[str, dict[str, list[str]]] = json.loads(FOUND_CODES.read_text())


def chosen() -> set[str]:
    """Return every fifth defect, and for each code the first two in which it is found."""
    ids: set[str] = set()
    times: Counter[str] = Counter()
    every = [defect for kind in sorted(ACCEPTED) for defect in ACCEPTED[kind].items()]
    for number, (defect, codes) in enumerate(every):
        if number % 5 == 0 or any(times[code] < 2 for code in codes):
            ids.add(defect)
            times.update(codes)
    return ids


CHOSEN = chosen()


@pytest.mark.parametrize("kind", sorted(ACCEPTED))
def test_the_codes_found_of_each_defect_are_the_accepted_ones(kind: str) -> None:
    every = (*defects(), *second_defects(), *blind_defects())
    accepted = {defect: codes for defect, codes in ACCEPTED[kind].items() if defect in CHOSEN}

    assert {defect.id for defect in every if defect.kind == kind} == ACCEPTED[kind].keys()
    assert accepted
    assert found_codes(kind, CHOSEN) == accepted


def test_each_kind_of_defect_is_in_the_list_and_most_are_found() -> None:
    assert {"cross_resource", "hpc", "life_cycle", "limits", "money", "security"} <= set(ACCEPTED)
    codes = [codes for defects in ACCEPTED.values() for codes in defects.values()]
    assert sum(map(bool, codes)) > len(codes) / 2


def test_what_is_found_in_sound_templates_was_judged_and_is_right_but_for_known_kinds() -> None:
    bases = [*names(), *(name for blind in BLIND_SETS for name in blind_names(blind))]
    found = [row for name in bases for row in judged_base(name)]

    assert [(name, kind) for name, kind, verdict in found if not verdict] == []
    wrong = {(name, kind.split()[0]) for name, kind, verdict in found if not verdict.startswith("right, ")}
    assert wrong == KNOWN_TO_BE_WRONG
