"""Rules between clusters, and all problems of a file together."""

from collections.abc import Callable

import pytest

from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]
_CLUSTER = "waves[0].clusters[0]"
_SECOND = """\
      - name: other
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 4
        capacity: {reservation_id: cr-fedcba98765432100}
        notify: [ml@example.com]
"""


def test_a_cluster_is_defined_once_in_a_region(findings: Findings, valid: str) -> None:
    assert findings(text=valid + _SECOND) == []
    (finding,) = findings(text=valid + _SECOND.replace("other", "train"))
    assert (finding.code, finding.path) == ("UC2105", "waves[0].clusters[1].name")
    assert "duplicate cluster 'train' in us-east-2, also in waves[0].clusters[0]" in str(finding)

    in_another_account = _SECOND.replace("other", "train").replace(
        "nodes:", 'account: "111122223333"\n        nodes:'
    )
    assert [finding.code for finding in findings(text=valid + in_another_account)] == ["UC2105"]


def test_a_cluster_may_have_the_same_name_in_another_region(findings: Findings, valid: str) -> None:
    melbourne = (
        _SECOND.replace("other", "train")
        .replace("us-east-2", "ap-southeast-4")
        .replace("use2-az3", "apse4-az1")
    )
    melbourne = melbourne.replace("trn2.48", "trn1.32") + "        image_id: ami-fedcba98765432100\n"

    assert findings(text=valid + melbourne) == []


def test_an_ami_exists_in_one_region(findings: Findings, valid: str) -> None:
    other = _SECOND.replace("us-east-2", "ap-south-2").replace("use2-az3", "aps2-az1")

    (finding,) = findings(text=valid + other)
    assert (finding.code, finding.path) == ("UC4115", "defaults.image_id")
    assert "ami-0123456789abcdef0 is used in ap-south-2 and in us-east-2" in str(finding)


def test_a_reservation_exists_in_one_zone_and_for_one_type(findings: Findings, valid: str) -> None:
    shared = _SECOND.replace("cr-fedcba98765432100", "cr-0123456789abcdef0")

    place = "waves[0].clusters[1].capacity.reservation_id"
    assert [(each.code, each.path) for each in findings(text=valid + shared)] == [("UC4182", place)]
    elsewhere = findings(text=valid + shared.replace("use2-az3", "use2-az1"))
    assert [(each.code, each.path) for each in elsewhere] == [("UC4115", place), ("UC4182", place)]


def test_a_wave_and_a_job_are_named_once(findings: Findings, valid: str) -> None:
    again = valid.split("waves:\n")[1].replace("name: train", "name: other").replace("cr-0", "cr-1")
    assert [str(finding) for finding in findings(text=valid + again)] == [
        "UC2106: rollout.yaml:26: waves[1].name: duplicate wave 'first'."
    ]

    job = valid[valid.index("          - name: pretrain") :]
    job = job.partition("        notify")[0]
    assert [str(finding) for finding in findings(text=valid.replace(job, job + job))] == [
        "UC6110: rollout.yaml:25: waves[0].clusters[0].jobs[1].name: duplicate job 'pretrain'."
    ]


def test_a_list_that_must_hold_something_is_not_empty(findings: Findings, valid: str) -> None:
    assert [str(finding) for finding in findings(text="version: 1\nwaves: []\n")] == [
        "UC1024: rollout.yaml:2: waves: the list is empty. Allowed: at least one item."
    ]
    head = valid.partition("    clusters:")[0]
    (finding,) = findings(text=head + "    clusters: []\n")
    assert (finding.code, finding.path) == ("UC1024", "waves[0].clusters")


def test_a_list_of_wrong_items_is_not_called_empty(findings: Findings) -> None:
    found = findings(("region: us-east-2", "region: nowhere"))

    assert [finding.code for finding in found] == ["UC2102"]


def test_shows_all_problems_at_once_in_file_order(findings: Findings) -> None:
    found = findings(
        ("version: 1", "version: 3"),
        ("team: research", "team: no"),
        ("name: train", "name: X"),
        ("nodes: 4", "nodes: 128"),
        ("12-04T11", "11-04T11"),
        ("{cidr", "{cdir: x, cidr"),
        ("250", "333"),
        (":2026-11-20", ":latest"),
        ("{NEURON_RT_LOG_LEVEL", "{AWS_BATCH_X: a, 5: a, NEURON_RT_LOG_LEVEL"),
    )

    assert [(finding.code, finding.location) for finding in found] == [
        ("UC1023", "rollout.yaml:1"),
        ("UC1015", "rollout.yaml:4"),
        ("UC2101", "rollout.yaml:8"),
        ("UC4102", "rollout.yaml:12"),
        ("UC4112", "rollout.yaml:17"),
        ("UC1020", "rollout.yaml:18"),
        ("UC5002", "rollout.yaml:19"),
        ("UC6107", "rollout.yaml:22"),
        ("UC1011", "rollout.yaml:24"),
        ("UC6109", "rollout.yaml:24"),
    ]


def test_an_item_that_cannot_be_read_does_not_shift_the_place_of_the_next(findings: Findings) -> None:
    found = findings(("jobs:\n", "jobs:\n          - 5\n"), (":2026-11-20", ":latest"))

    assert [(finding.code, finding.path) for finding in found] == [
        ("UC1022", f"{_CLUSTER}.jobs[0]"),
        ("UC6107", f"{_CLUSTER}.jobs[1].image"),
    ]


def test_never_shows_a_credential(findings: Findings) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"

    for old, new in [
        ("name: train", f"name: {secret}"),
        ("name: train", f"{secret}: train"),
        ("{team: research}", f'{{"{secret}": x}}'),
        ("10.0.0.0/16", f'"{secret}"'),
        ("nodes: 4", f"nodes: &{secret} 4"),
        ("nodes: 4", f"nodes: !{secret} 4"),
    ]:
        found = findings((old, new))
        assert found
        assert secret not in "\n".join(map(str, found))
        assert secret not in repr(found)


def test_raises_no_warning_alone(load: Callable[..., LoadedRollout]) -> None:
    assert [finding.code for finding in load((":2026-11-20", ":latest")).warnings] == ["UC6107"]
    with pytest.raises(FindingsError) as caught:
        load((":2026-11-20", ":latest"), ("nodes: 4", "nodes: 0"))
    assert [finding.code for finding in caught.value.findings] == ["UC4101", "UC6107"]


def test_a_reservation_of_another_cluster_is_seen_in_further_capacity(findings: Findings) -> None:
    second = """\
      - name: other
        region: us-east-2
        zone_id: use2-az2
        instance_type: trn2.48xlarge
        nodes: 4
        capacity: {market_type: on-demand}
        additional_capacity: [{name: same, market_type: on-demand, reservation_id: cr-0123456789abcdef0}]
"""
    found = findings(("    clusters:\n", f"    clusters:\n{second}"))
    assert "UC4115" in {finding.code for finding in found}
