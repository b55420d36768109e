"""An existing subnet, a NAT gateway and the slots of network card 0, in a rollout file."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding, Severity

Findings = Callable[..., list[Finding]]

_EXISTING = "{vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0"


def _edit(network: str) -> tuple[str, str]:
    return ("{cidr: 10.0.0.0/16}", network)


@pytest.mark.parametrize(
    "network",
    [
        _EXISTING + "}",
        _EXISTING + ", available_addresses: 136}",
        # An unused cidr is not judged, and a large layout is nobody's concern while the room is not known.
        _EXISTING + ", cidr: 172.17.0.0/16, nic_layout: all-efa}",
        "{nat_gateway: true}",
        "{nat_gateway: true, cidr: 10.0.0.0/23}",
        "{nat_gateway: true, cidr: 10.0.0.0/23, subnet_prefix: 24}",
    ],
)
def test_takes(findings: Findings, network: str) -> None:
    assert findings(_edit(network)) == []


@pytest.mark.parametrize(
    ("network", "code", "key"),
    [
        ("{vpc_id: vpc-0123456789abcdef0}", "UC3107", "vpc_id"),
        ("{subnet_id: subnet-0123456789abcdef0}", "UC3107", "subnet_id"),
        ("{vpc_id: VPC-1, subnet_id: subnet-0123456789abcdef0}", "UC3107", "vpc_id"),
        ("{vpc_id: vpc-0123456789abcdef0, subnet_id: vpc-0123456789abcdef0}", "UC3107", "subnet_id"),
        (_EXISTING + ", nat_gateway: true}", "UC3107", "nat_gateway"),
        (_EXISTING + ", subnet_prefix: 20}", "UC3107", "subnet_prefix"),
        ("{available_addresses: 4000}", "UC3107", "available_addresses"),
        # 4 nodes with an address and a task each, and 128 for the file system.
        (_EXISTING + ", available_addresses: 135}", "UC3002", "available_addresses"),
        (_EXISTING + ", available_addresses: -1}", "UC3002", "available_addresses"),
        ("{nat_gateway: true, cidr: 10.0.0.0/24}", "UC3105", "cidr"),
        ("{nat_gateway: true, cidr: 10.0.0.0/23, subnet_prefix: 23}", "UC3105", "subnet_prefix"),
    ],
)
def test_refuses(findings: Findings, network: str, code: str, key: str) -> None:
    (finding,) = findings(_edit(network))
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert finding.path.endswith(f"network.{key}")


def test_warns_of_a_layout_that_may_leave_no_slot_for_the_job(findings: Findings) -> None:
    (finding,) = findings(_edit("{nic_layout: ec2-guide}"))
    assert (finding.code, finding.severity) == ("UC4017", Severity.WARNING)
    assert findings(_edit("{nic_layout: ec2-guide}"), ("trn2.48xlarge", "trn1.32xlarge")) == []
