"""Suppressed warnings are on record and not shown."""

from collections.abc import Callable

from tests.unit.stacks.config.suppression_edits import REASON, THREE_NODES, suppress

from ultracluster_spec.findings import Finding
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]
Load = Callable[..., LoadedRollout]
_CLUSTER = "waves[0].clusters[0]"
SECOND_CLUSTER = """\
      - name: other
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 3
        capacity: {reservation_id: cr-0fedcba9876543210}
        notify: [ml@example.com]
"""


def test_a_suppressed_warning_is_on_record_and_not_shown(load: Load) -> None:
    assert [each.code for each in load(THREE_NODES).warnings] == ["UC4103"]
    loaded = load(suppress(), THREE_NODES)
    assert loaded.warnings == ()
    (kept,) = loaded.suppressed
    assert (kept.finding.code, kept.finding.path, kept.reason) == ("UC4103", f"{_CLUSTER}.nodes", REASON)


def test_it_holds_for_its_cluster_only(load: Load, valid: str) -> None:
    loaded = load(suppress(), THREE_NODES, text=valid + SECOND_CLUSTER)
    assert [(each.code, each.path) for each in loaded.warnings] == [("UC4103", "waves[0].clusters[1].nodes")]
    assert len(loaded.suppressed) == 1


def test_in_the_defaults_it_holds_for_all_and_has_to_hit_one(load: Load, valid: str) -> None:
    defaults = ("defaults:\n", f"defaults:\n  suppress: {{UC4103: {REASON}}}\n")
    loaded = load(defaults, text=valid + SECOND_CLUSTER)
    assert loaded.warnings == ()
    assert [each.finding.path for each in loaded.suppressed] == ["waves[0].clusters[1].nodes"]


def test_a_doubt_of_the_yaml_reader_is_suppressed_too(load: Load) -> None:
    variable = ("{NEURON_RT_LOG_LEVEL: INFO}", "{ROOT: '${HOME}'}")
    assert load(suppress("UC1017", "the entry point fills it in"), variable).warnings == ()
    job = "{name: other, image: 'x:1', command: [x], environment: {ROOT: '${HOME}'}}"
    in_defaults = (
        "defaults:\n",
        f"defaults:\n  suppress: {{UC1017: filled in later}}\n  jobs: [{job}]\n",
    )
    (kept,) = load(in_defaults).suppressed
    assert kept.finding.path == "defaults.jobs[0].environment.ROOT"


def test_an_error_is_never_suppressed(findings: Findings) -> None:
    assert [each.code for each in findings(suppress("UC4101"), ("nodes: 4", "nodes: 0"))] == [
        "UC2241",
        "UC4101",
    ]


def test_warns_of_a_suppression_that_hits_nothing_once_where_it_stands(
    findings: Findings, valid: str
) -> None:
    (own,) = findings(suppress())
    assert (own.code, own.path, own.location) == ("UC2243", f"{_CLUSTER}.suppress.UC4103", "rollout.yaml:12")
    second = SECOND_CLUSTER.replace("nodes: 3", "nodes: 4")
    in_defaults = ("defaults:\n", f"defaults:\n  suppress: {{UC4103: {REASON}}}\n")
    (shared,) = findings(in_defaults, text=valid + second)
    assert (shared.code, shared.path) == ("UC2243", "defaults.suppress.UC4103")


def test_nothing_is_said_about_unused_ones_while_the_file_is_wrong(findings: Findings) -> None:
    assert [each.code for each in findings(suppress(), ("nodes: 4", "nodes: 0"))] == ["UC4101"]
