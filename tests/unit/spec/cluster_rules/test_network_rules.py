"""The network of a cluster has room, and its interfaces are legal."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.file_system_edits import BOTH_SIZES, KNOWN
from tests.unit.stacks.config.machine_edits import (
    NETWORK_LINE,
    with_interfaces,
)

from ultracluster_spec.findings import Finding, Severity
from ultracluster_stacks.config import LoadedRollout
from ultracluster_stacks.config.records import RECORDS

_CLUSTER = "waves[0].clusters[0]"
Findings = Callable[..., list[Finding]]
_EXISTING_SUBNET = "{vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0"
Load = Callable[..., LoadedRollout]
SUBNET = "vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0"


def test_the_layout_decides_how_many_addresses_nodes_take(findings: Findings) -> None:
    edits = [("nodes: 4", "nodes: 64"), ("10.0.0.0/16", "10.0.0.0/22")]

    assert findings(*edits) == []
    (finding,) = findings(*edits, ("{cidr", "{nic_layout: all-efa, cidr"))
    assert finding.code == "UC3105"
    # 64 x (16 + 1) + 9 endpoints + 128 for the file system + 5 of AWS
    assert "1,230 addresses, but a /22 has 1,024. Use /21" in str(finding)


def _with_network(network: str) -> tuple[str, str]:
    return ("{cidr: 10.0.0.0/16}", network)


@pytest.mark.parametrize(
    "network",
    [
        _EXISTING_SUBNET + "}",
        _EXISTING_SUBNET + ", available_addresses: 136}",
        # An unused cidr is not judged, and a large layout is nobody's concern while the room is not known.
        _EXISTING_SUBNET + ", cidr: 172.17.0.0/16, nic_layout: all-efa}",
        "{nat_gateway: true}",
        "{nat_gateway: true, cidr: 10.0.0.0/23}",
        "{nat_gateway: true, cidr: 10.0.0.0/23, subnet_prefix: 24}",
    ],
)
def test_accepts_an_existing_subnet_or_a_nat_gateway(findings: Findings, network: str) -> None:
    assert findings(_with_network(network)) == []


@pytest.mark.parametrize(
    ("network", "code", "key"),
    [
        ("{vpc_id: vpc-0123456789abcdef0}", "UC3107", "vpc_id"),
        ("{subnet_id: subnet-0123456789abcdef0}", "UC3107", "subnet_id"),
        ("{vpc_id: VPC-1, subnet_id: subnet-0123456789abcdef0}", "UC3107", "vpc_id"),
        ("{vpc_id: vpc-0123456789abcdef0, subnet_id: vpc-0123456789abcdef0}", "UC3107", "subnet_id"),
        (_EXISTING_SUBNET + ", nat_gateway: true}", "UC3107", "nat_gateway"),
        (_EXISTING_SUBNET + ", subnet_prefix: 20}", "UC3107", "subnet_prefix"),
        ("{available_addresses: 4000}", "UC3107", "available_addresses"),
        (_EXISTING_SUBNET + ", available_addresses: 135}", "UC3002", "available_addresses"),
        (_EXISTING_SUBNET + ", available_addresses: -1}", "UC3002", "available_addresses"),
        ("{nat_gateway: true, cidr: 10.0.0.0/24}", "UC3105", "cidr"),
        ("{nat_gateway: true, cidr: 10.0.0.0/23, subnet_prefix: 23}", "UC3105", "subnet_prefix"),
    ],
)
def test_refuses_an_existing_subnet_or_nat_gateway_without_room(
    findings: Findings, network: str, code: str, key: str
) -> None:
    (finding,) = findings(_with_network(network))
    assert (finding.code, RECORDS[code].severity) == (code, Severity.ERROR)
    assert finding.path.endswith(f"network.{key}")


@pytest.mark.parametrize(
    ("settings", "addresses"),
    [
        ("{}", 128),
        (f"{{{KNOWN}}}", 0),
        ("{storage_capacity_gib: 360000}", 165),  # 150 object servers and 15 metadata servers
    ],
)
def test_an_existing_subnet_keeps_addresses_for_a_new_file_system_only(
    findings: Findings, settings: str, addresses: int
) -> None:
    def found(free: int) -> list[str]:
        network = f"{{vpc_id: vpc-01234567, subnet_id: subnet-01234567, available_addresses: {free}}}"
        edits = (("{cidr: 10.0.0.0/16}", network), (f"{{{BOTH_SIZES}}}", settings))
        return [each.code for each in findings(*edits)]

    assert found(4 * 2 + addresses) == []  # a node and its task take one address each
    assert found(4 * 2 + addresses - 1) == ["UC3002"]


def test_warns_of_interfaces_that_leave_no_slot_for_the_task(load: Load) -> None:
    both = ("card: 0, interface_type: interface", "card: 0, device: 1, interface_type: efa-only")
    warnings = load((NETWORK_LINE, with_interfaces(*both))).warnings
    found = {each.code: each.path for each in warnings}
    assert found["UC4017"] == f"{_CLUSTER}.network.network_interfaces"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("security_group_id: sg-0123456789abcdef0", "security_group_id"),
        ("add_efa_rules: true", "add_efa_rules"),
        (f"{SUBNET}, security_group_id: my-group", "security_group_id"),
    ],
)
def test_refuses_a_security_group_that_cannot_be_found(findings: Findings, given: str, path: str) -> None:
    (finding,) = findings((NETWORK_LINE, f"        network: {{{given}}}\n"))
    assert (finding.code, finding.path) == ("UC3109", f"{_CLUSTER}.network.{path}")
