"""`defaults`: how they merge, and where messages about inherited values point."""

from collections.abc import Callable

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding
from ultracluster_stacks.config import LoadedRollout
from ultracluster_stacks.config.reading.defaults import merge, origin

Findings = Callable[..., list[Finding]]

_SHARED = """\
version: 1
defaults:
  region: us-east-2
  zone_id: use2-az3
  instance_type: trn2.48xlarge
  image_id: ami-0123456789abcdef0
  nodes: 4
  account: "123456789012"
  capacity: {market_type: on-demand, end: "2026-12-04T11:30:00Z"}
  jobs:
    - {name: pretrain, image: "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:1", command: [train.py]}
  tags: {team: research, stage: test}
waves:
  - name: first
    clusters:
      - name: plain
      - name: special
        nodes: 8
        account: null
        capacity: {end: "2026-12-05T11:30:00Z"}
        jobs: []
        tags: {stage: production, owner: me}
"""


def _clusters(loaded: LoadedRollout) -> tuple[Cluster, ...]:
    return loaded.config.waves[0].clusters


def test_a_cluster_has_the_values_of_the_defaults(load: Callable[..., LoadedRollout]) -> None:
    plain, _ = _clusters(load(text=_SHARED))

    assert (plain.name, plain.region, plain.nodes, plain.account) == ("plain", "us-east-2", 4, "123456789012")
    assert plain.capacity.market_type == "on-demand"
    assert [job.name for job in plain.jobs] == ["pretrain"]
    assert plain.tags == {"team": "research", "stage": "test"}


def test_mappings_merge_by_key_and_lists_and_single_values_replace(
    load: Callable[..., LoadedRollout],
) -> None:
    _, special = _clusters(load(text=_SHARED))

    assert (special.nodes, special.account, special.jobs) == (8, None, ())
    assert special.tags == {"team": "research", "stage": "production", "owner": "me"}
    assert special.capacity.market_type == "on-demand"
    assert special.capacity.end is not None
    assert special.capacity.end.day == 5


def test_a_problem_of_an_inherited_value_points_at_the_defaults_once(findings: Findings) -> None:
    for old, new, code, line in [
        ("  nodes: 4", "  nodes: 0", "UC4101", 7),
        ("on-demand", "reserved", "UC1023", 9),
        ("training:1", "training", "UC6107", 11),
        ("team: research", "team: a;b", "UC2107", 12),
        ("use2-az3", "use1-az1", "UC3102", 4),
    ]:
        found = findings((old, new), text=_SHARED)
        assert [(finding.code, finding.location) for finding in found] == [(code, f"rollout.yaml:{line}")]
        assert found[0].path.startswith("defaults.")


def test_a_problem_of_an_own_value_points_at_the_cluster(findings: Findings) -> None:
    found = findings(("stage: production", "stage: a;b"), ("nodes: 8", "nodes: 0"), text=_SHARED)

    assert [(finding.location, finding.path) for finding in found] == [
        ("rollout.yaml:18", "waves[0].clusters[1].nodes"),
        ("rollout.yaml:22", "waves[0].clusters[1].tags.stage"),
    ]


def test_a_value_that_is_nowhere_set_is_reported_missing_in_the_cluster(findings: Findings) -> None:
    found = findings(("  region: us-east-2\n", ""), text=_SHARED)

    assert [(finding.code, finding.location, finding.path) for finding in found] == [
        ("UC1021", "rollout.yaml:15", "waves[0].clusters[0].region"),
        ("UC1021", "rollout.yaml:16", "waves[0].clusters[1].region"),
    ]


def test_defaults_are_checked_even_where_each_cluster_overrides_them(findings: Findings) -> None:
    text = _SHARED.replace("      - name: plain\n", "").replace("  nodes: 4", "  nodes: four")

    assert [finding.path for finding in findings(text=text)] == ["defaults.nodes"]


def test_a_job_of_the_defaults_is_complete_by_itself(findings: Findings) -> None:
    assert [str(finding) for finding in findings(("{name: pretrain, ", "{"), text=_SHARED)] == [
        "UC1021: rollout.yaml:11: defaults.jobs[0].name: name is required."
    ]


def test_defaults_other_than_a_mapping_are_refused(findings: Findings, valid: str) -> None:
    for new in ("defaults: [1]\nx:", "defaults: text\nx:", "defaults:\nx:"):
        found = findings(("defaults:", new), text=valid)
        assert ("UC1022", "defaults", "rollout.yaml:2") in {
            (each.code, each.path, each.location) for each in found
        }


def test_without_defaults_a_cluster_keeps_its_values(findings: Findings, valid: str) -> None:
    text = valid.replace("defaults:\n  image_id: ami-0123456789abcdef0\n  tags: {team: research}\n", "")
    text = text.replace("        nodes: 4", "        nodes: 4\n        image_id: ami-0123456789abcdef0")

    assert findings(text=text) == []


def test_merge_never_mixes_two_kinds() -> None:
    assert merge({"a": {"b": 1}}, {"a": 5}) == {"a": 5}
    assert merge({"a": 5}, {"a": {"b": 1}}) == {"a": {"b": 1}}
    assert merge({"a": (1, 2)}, {"a": (3,)}) == {"a": (3,)}
    assert merge({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"d": 3}}}) == {"a": {"b": {"c": 1, "d": 3}}}


def test_origin_of_an_item_in_a_list_is_where_the_whole_list_stands() -> None:
    own = {"defaults": {"jobs": ({"name": "x"},)}, "waves": ({"clusters": ({"jobs": ({"name": "y"},)}, {})},)}
    place = ("jobs", 0, "image")

    assert origin(own, ("waves", 0, "clusters", 0, *place)) == ("waves", 0, "clusters", 0, *place)
    assert origin(own, ("waves", 0, "clusters", 1, *place)) == ("defaults", *place)
    assert origin(own, ("waves", 7, "clusters", 1, *place)) == ("waves", 7, "clusters", 1, *place)
