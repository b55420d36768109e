"""What the template check finds of the table of seeds, by kind, and that it finds little else.

`python -m tests.deep.template_defects` prints the same figures; docs/evidence/defects.md says where the seeds come from.
"""

import re
from collections import Counter

import pytest
from tests.deep.conftest import Tried
from tests.deep.template_defects import public
from tests.deep.template_defects.table import (
    judged,
    newly_found,
    rates,
    seeds,
    sources,
    variants,
    verdicts,
)
from tests.deep.template_defects.templates import base, names, region

pytestmark = pytest.mark.deep

# Seeds by kind, and how many of them are found.
FOUND = {
    "hpc": (78, 66),
    "cross_resource": (57, 49),
    "life_cycle": (21, 16),
    "security": (24, 23),
    "money": (6, 4),
    "data": (4, 3),
    "limits": (2, 2),
    "all": (192, 163),
}


def test_seeds_are_found_as_before(tried: Tried) -> None:
    assert rates() == FOUND
    tried("template defects", f"{FOUND['all'][1]} of {FOUND['all'][0]} seeds found")


def test_few_variants_have_a_new_finding() -> None:
    changed = [variant.id for variant in variants() if newly_found(variant)]

    assert len(variants()) > 100
    assert len(changed) <= 0.02 * len(variants()), changed


def test_what_is_found_in_sound_templates_is_right() -> None:
    told = [(name, *row) for name in names() for row in judged(base(name), region(name))]

    assert [row for row in told if not row[2].startswith("right, ")] == []
    assert [kind for kind, verdict in verdicts().items() if verdict[:7] not in ("right, ", "wrong, ")] == []


def test_each_seed_has_a_name_a_sentence_a_source_and_resources_at_fault() -> None:
    assert [name for name, count in Counter(seed.id for seed in seeds()).items() if count > 1] == []
    assert [seed.id for seed in seeds() if not seed.wrong.endswith(".")] == []
    assert {seed.source for seed in seeds()} == set(sources())
    for seed in seeds():
        resources = {*base(seed.base)["Resources"], *seed.template()["Resources"]}
        assert seed.about, seed.id
        assert set(seed.about) <= resources, seed.id


def test_public_templates_are_listed_and_not_kept() -> None:
    listed = public.listed()

    assert len(listed) >= 100
    assert len(set(listed)) == len(listed)
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for _, commit, _ in listed)


def test_findings_in_public_templates_of_a_mirror_are_right(tried: Tried) -> None:
    told = [(name, *row) for name, template in public.templates() for row in judged(template, None)]
    if not told:
        pytest.skip(f"{public.MIRROR} names no mirror")
    wrong = [row for row in told if not row[2].startswith("right, ")]

    assert len(wrong) <= 0.02 * len(told), wrong
    tried("template defects", f"{len(told)} findings in public templates, {len(wrong)} wrong")
