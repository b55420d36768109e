"""The tables that judge ``ultracluster validate`` are whole: each edit changes its base and leaves no loose end."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.deep.conftest import Tried
from tests.deep.template_defects import foreign
from tests.deep.template_defects.defects import (
    blind_defects,
    blind_sources,
    defects,
    second_defects,
    sources,
)
from tests.deep.template_defects.judge import FOUND_CODES, found, found_codes, newly_found
from tests.deep.template_defects.rewrites import Rewrite, blind_rewrites, rewrites
from tests.deep.template_defects.templates import (
    BASES,
    BLIND_SETS,
    Application,
    base,
    blind_names,
    edited,
    findings,
    names,
    parse,
    region,
)

pytestmark = pytest.mark.deep

LEAST = {"life_cycle": 40, "cross_resource": 60, "hpc": 90, "security": 60}


def references(value: Any) -> Iterator[str]:
    """Yield the logical ID of each resource or parameter that a value refers to."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "Ref" and isinstance(item, str):
                yield item
            elif key == "Fn::GetAtt":
                yield item[0] if isinstance(item, list) else item.split(".")[0]
            elif key == "Fn::Sub":
                line, own = item if isinstance(item, list) else (item, {})
                yield from {match.split(".")[0] for match in re.findall(r"\$\{([^!}]+)\}", line)} - set(own)
                yield from references(own)
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def loose_ends(application: Application) -> set[str]:
    """Return what is referred to and not there."""
    return {
        name
        for template in application.values()
        for name in references(
            {part: template.get(part, {}) for part in ("Resources", "Outputs", "Conditions")}
        )
        if name not in {*template["Resources"], *template.get("Parameters", {})}
        and not name.startswith("AWS::")
    }


def text(application: Application) -> str:
    return json.dumps(application, sort_keys=True)


def test_no_base_has_a_loose_end() -> None:
    every = (*names(), *(each for blind in BLIND_SETS for each in blind_names(blind)))
    assert {name: ends for name in every if (ends := loose_ends(base(name)))} == {}


def test_each_edit_changes_its_base_and_leaves_no_loose_end(tried: Tried) -> None:
    every = (*defects(), *second_defects(), *blind_defects())
    unchanged = [defect.id for defect in every if text(defect.application()) == text(base(defect.base))]
    assert unchanged == []
    loose = {defect.id for defect in every if loose_ends(defect.application())}
    assert loose == {"w-sub-without-escape"}  # whose mistake is such an end
    tried("template defects", f"{len(every)} edits")


def test_each_defect_has_a_name_of_its_own_a_sentence_and_a_source() -> None:
    every = (*defects(), *second_defects(), *blind_defects())
    assert [name for name, count in Counter(defect.id for defect in every).items() if count > 1] == []
    assert [defect.id for defect in every if not defect.wrong.endswith(".")] == []
    assert {defect.source for defect in defects()} == set(sources())
    known = set(sources())
    for blind in BLIND_SETS:  # a set also names sources of those before it
        assert {defect.source for defect in blind_defects(blind)} - known == set(blind_sources(blind)) - known
        known |= set(blind_sources(blind))


def test_no_two_defects_are_the_same() -> None:
    for table in (defects(), *map(blind_defects, BLIND_SETS)):
        same = Counter(text(defect.application()) for defect in table)
        assert max(same.values()) == 1


def test_each_defect_of_a_blind_set_says_which_resources_are_at_fault() -> None:
    for defect in blind_defects():
        both = (*base(defect.base).values(), *defect.application().values())
        resources = {name for template in both for name in template["Resources"]}
        assert defect.about, defect.id
        assert set(defect.about) <= resources, defect.id


@pytest.mark.parametrize("blind", BLIND_SETS)
def test_a_blind_set_has_enough_of_each_kind(blind: str) -> None:
    per_kind = Counter(defect.kind for defect in blind_defects(blind))
    least = {"life_cycle": 30, "cross_resource": 30, "hpc": 40, "security": 25, "money": 12}
    assert all(per_kind[kind] >= number for kind, number in least.items())
    assert per_kind["data"] + per_kind["limits"] >= 15
    assert len(blind_names(blind)) >= 8


@pytest.mark.parametrize("blind", BLIND_SETS)
def test_rewrites_of_a_blind_set_are_whole(blind: str) -> None:
    every = list(blind_rewrites(blind))
    assert sum(one.kind.startswith("variant: ") for one in every) >= 60
    assert [(one.kind, one.base) for one in every if loose_ends(one.application)] == []


def test_there_are_enough_of_each_kind() -> None:
    per_kind = Counter(defect.kind for defect in defects())
    others = per_kind.total() - sum(per_kind[kind] for kind in LEAST)
    assert per_kind.total() >= 300
    assert all(per_kind[kind] >= least for kind, least in LEAST.items())
    assert others >= 50
    assert len(list(BASES.iterdir())) >= 12


def test_an_edit_that_fits_nothing_or_changes_nothing_is_refused() -> None:
    application = base("network")
    for operation in (
        ["del", "Resources/Nowhere"],
        ["set", "@Nodes/MapPublicIpOnLaunch", False],
        ["turn", "@Nodes/MapPublicIpOnLaunch", False],
    ):
        with pytest.raises(LookupError):
            edited(application, [operation])


def test_an_edit_leaves_its_base_alone() -> None:
    application = base("network")
    edited(application, [["del", "Resources/Flows"]])
    assert application == base("network")


def test_short_functions_are_read_in_their_long_form() -> None:
    written = "a: !GetAtt B.C\nd: !Sub 'x${E}'\nf: !If [G, !Ref H, 2026-01-02]\n"
    assert parse(written) == {
        "a": {"Fn::GetAtt": ["B", "C"]},
        "d": {"Fn::Sub": "x${E}"},
        "f": {"Fn::If": ["G", {"Ref": "H"}, "2026-01-02"]},
    }


def test_rewrites_are_many_sound_and_the_same_each_time(tried: Tried) -> None:
    first, second = list(rewrites()), list(rewrites())
    assert len(first) >= 200
    assert len({rewrite.kind for rewrite in first}) >= 20
    assert [one.application for one in first] == [two.application for two in second]
    assert [(one.kind, one.base) for one in first if loose_ends(one.application)] == []
    changed = sum(bool(newly_found(rewrite)) for rewrite in first)
    tried("template defects", f"{len(first)} rewrites, {changed} with new findings")


def test_the_judge_counts_what_the_edit_adds(tried: Tried) -> None:
    hits = {defect.id: bool(found(defect)) for defect in defects()}
    # An open port is found by any checker of templates: without it the judge itself is broken.
    assert hits["shell-from-everywhere"]
    sound = Rewrite(kind="itself", base="network", application=base("network"))
    assert not newly_found(sound)
    tried("template defects", f"{sum(hits.values())} of {len(hits)} defects found")


def test_the_codes_found_of_each_defect_are_the_accepted_ones() -> None:
    accepted = json.loads(FOUND_CODES.read_text())
    assert {kind: found_codes(kind) for kind in accepted} == accepted


def test_findings_do_not_depend_on_places_in_lists() -> None:
    application = base("trn1_spot")
    before = findings(application, region("trn1_spot"))
    application["trn1_spot"]["Resources"]["FineTune"]["Properties"]["ContainerProperties"][
        "Environment"
    ].insert(0, {"Name": "FIRST", "Value": "1"})
    assert findings(application, region("trn1_spot")) == before


def test_foreign_templates_are_listed_and_not_kept() -> None:
    listed = foreign.listed()
    assert len(listed) >= 60
    assert len(set(listed)) == len(listed)
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for _, commit, _ in listed)


def test_without_a_mirror_no_foreign_template_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(foreign.MIRROR, raising=False)
    assert list(foreign.templates()) == []


def test_each_verdict_on_foreign_findings_is_right_or_wrong() -> None:
    assert [
        kind for kind, verdict in foreign.verdicts().items() if verdict[:7] not in ("right, ", "wrong, ")
    ] == []


def test_foreign_templates_of_a_mirror_are_checked(tried: Tried) -> None:
    read = len(dict(foreign.templates()))
    if not read:
        pytest.skip(f"{foreign.MIRROR} names no mirror")
    verdicts = Counter(verdict[:5] for _, _, verdict in foreign.judged())
    tried(
        "template defects",
        f"{read} foreign templates, {verdicts.total()} findings, {verdicts['wrong']} wrong",
    )
