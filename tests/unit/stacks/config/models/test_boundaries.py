"""What the rules of a rollout still take, and what they only warn of."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding, Severity

Findings = Callable[..., list[Finding]]

_TYPE = "trn2.48xlarge"
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")
_ENVIRONMENT = "{NEURON_RT_LOG_LEVEL: INFO}"


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("nodes: 4", "nodes: 64")], "UC4102"),
        ([("nodes: 4", "nodes: 1")], "UC4103"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 3")], "UC4103"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 1000")], "UC4101"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 65")], "UC4102"),
        ([_ON_DEMAND], "UC4108"),
        ([_ON_DEMAND, ("12-04T11:30", "12-04T12:30")], "UC4113"),
        ([_ON_DEMAND, (_TYPE, "inf2.48xlarge"), ("nodes: 4", "nodes: 1")], "UC4104"),
        ([(_TYPE, "trn1.32xlarge")], "UC4104"),
        ([("2026-12-04T11", "2027-06-01T11")], "UC4114"),
        ([("12-01T12:00:00Z", "12-04T11:29:59Z")], "UC4112"),
        ([('"2026-12-01T12:00:00Z"', '"2026-12-01T12:00Z"')], "UC4111"),
        ([('"2026-12-01T12:00:00Z"', "2026-12-01T12:00:00Z")], "UC1022"),
        ([("ami-0123456789abcdef0", "ami-01234567")], "UC4110"),
        ([("name: train", "name: " + "x" * 32)], "UC2101"),
        ([("name: train", "name: x-")], "UC2101"),
        ([("team: r", "k" * 128 + ": r")], "UC2107"),
        ([("team: research", "team: " + "v" * 256)], "UC2107"),
        ([("team: research", ",".join(f"k{n}: v" for n in range(40)))], "UC2107"),
        ([("team: research", "'caf\u00e9 + a-b=c.d_e:/@': '\u6771\u4eac'")], "UC2107"),
        ([("nodes:", 'account: "012345678901"\n        nodes:')], "UC2104"),
        ([("nodes:", 'profile: "AdministratorAccess-012345678901"\n        nodes:')], "UC2230"),
        ([("nodes:", "account: null\n        nodes:")], "UC1022"),
        ([("10.0.0.0/16", "10.0.0.0/24")], "UC3105"),
        ([("10.0.0.0/16", "10.0.0.0/18, subnet_prefix: 18")], "UC3105"),
        ([("10.0.0.0/16", "192.168.0.0/16")], "UC3104"),
        ([("10.0.0.0/16", "172.16.0.0/16")], "UC3104"),
        ([("4800", "1200")], "UC5101"),
        ([("4800", "7200")], "UC5003"),
        ([("image: 1", "nodes: 4\n            image: 1")], "UC6101"),
        ([("image: 1", "processes_per_node: 128\n            image: 1")], "UC6103"),
        ([("image: 1", "launcher: jax\n            processes_per_node: 1\n            image: 1")], "UC6140"),
        ([("[train.py]", "[x]")], "UC6142"),
        ([("image: 1", "gates: {fabric: true, smoke: true}\n            image: 1")], "UC6150"),
        (
            [
                (
                    "image: 1",
                    "gates: {fabric: true, min_bandwidth: 1, max_latency: 1}\n            image: 1",
                )
            ],
            "UC6151",
        ),
        ([("name: pretrain", "name: pretrain-fabric\n            gates: {fabric: true}")], "UC6153"),
        ([("image: 1", "attempts: 10\n            image: 1")], "UC6104"),
        ([("image: 1", "timeout_hours: 70\n            image: 1")], "UC6105"),
        ([_ON_DEMAND, ("image: 1", "timeout_hours: 71\n            image: 1")], "UC6105"),
        ([(":2026-11-20", "@sha256:" + "0" * 64)], "UC6107"),
        ([(_ENVIRONMENT, "{A: '', _b: 'x y'}")], "UC6109"),
    ],
)
def test_takes_the_other_side_of_the_boundary(
    findings: Findings, edits: list[tuple[str, str]], code: str
) -> None:
    found = findings(*edits)

    assert code not in {finding.code for finding in found}
    assert not [finding for finding in found if finding.severity is Severity.ERROR], found


def test_warns_of_a_zone_where_the_type_is_not_known_to_be_offered(findings: Findings) -> None:
    trn1 = (_TYPE, "trn1.32xlarge")

    assert findings(_ON_DEMAND, trn1) == []
    assert [finding.code for finding in findings(_ON_DEMAND, trn1, ("use2-az3", "use2-az1"))] == ["UC4106"]


def test_warns_of_a_region_where_blocks_are_not_known_to_be_sold(findings: Findings) -> None:
    elsewhere = [("us-east-2\n", "eu-west-1\n"), ("use2-az3", "euw1-az1"), ("us-east-2.ama", "eu-west-1.ama")]

    assert [finding.code for finding in findings(*elsewhere)] == ["UC4107"]
    seen = [("us-east-2\n", "ap-south-2\n"), ("use2-az3", "aps2-az2"), ("us-east-2.ama", "ap-south-2.ama")]
    assert findings(*seen) == []


def test_warns_of_a_partition_that_was_never_tested(findings: Findings) -> None:
    china = [("us-east-2\n", "cn-north-1\n"), ("use2-az3", "cnn1-az1"), ("us-east-2.ama", "cn-north-1.ama")]

    assert [finding.code for finding in findings(*china, _ON_DEMAND)] == ["UC2103"]


def test_one_block_holds_one_ultraserver(findings: Findings) -> None:
    ultraserver = (_TYPE, "trn2u.48xlarge")

    assert findings(ultraserver) == []
    # With a word about the part of an UltraServer, and the job that takes all five nodes.
    assert {finding.code for finding in findings(ultraserver, ("nodes: 4", "nodes: 5"))} == {
        *("UC4105", "UC4028", "UC4029")
    }


def test_a_type_without_blocks_is_refused_once(findings: Findings) -> None:
    assert [finding.code for finding in findings((_TYPE, "trn1n.32xlarge"))] == ["UC4104"]


def test_a_subnet_may_be_full_to_the_last_address(findings: Findings) -> None:
    # 57 x (1 + 1) + 9 endpoints + 128 for the file system + 5 of AWS = 256
    small = ("10.0.0.0/16", "10.0.0.0/24")

    assert findings(_ON_DEMAND, small, ("nodes: 4", "nodes: 57")) == []
    assert [each.code for each in findings(_ON_DEMAND, small, ("nodes: 4", "nodes: 58"))] == ["UC3105"]


def test_processes_on_gpus_are_not_counted_in_neuroncores(findings: Findings) -> None:
    assert findings((_TYPE, "p5.48xlarge"), ("image: 1", "processes_per_node: 8\n            image: 1")) == []


def test_a_key_that_stands_twice_is_shown_where_it_stands_again(findings: Findings) -> None:
    (finding,) = findings(("nodes: 4\n", "nodes: 4\n        nodes: 8\n"))

    assert str(finding) == (
        "UC1012: rollout.yaml:13: waves[0].clusters[0].nodes: duplicate key 'nodes', in lines 12 and 13. "
        "Allowed: each key once. Keep one of them."
    )


def test_a_job_over_several_nodes_needs_efa(findings: Findings) -> None:
    without_efa = [_ON_DEMAND, (_TYPE, "trn1.2xlarge")]

    assert [finding.code for finding in findings(*without_efa)] == ["UC6102"]
    assert findings(*without_efa, ("image: 1", "nodes: 1\n            image: 1")) == []


def test_the_layout_decides_how_many_addresses_nodes_take(findings: Findings) -> None:
    edits = [("nodes: 4", "nodes: 64"), ("10.0.0.0/16", "10.0.0.0/22")]

    assert findings(*edits) == []
    (finding,) = findings(*edits, ("{cidr", "{nic_layout: all-efa, cidr"))
    assert finding.code == "UC3105"
    # 64 x (16 + 1) + 9 endpoints + 128 for the file system + 5 of AWS
    assert "1,230 addresses, but a /22 has 1,024. Use /21" in str(finding)
