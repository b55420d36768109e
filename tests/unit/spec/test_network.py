"""An existing subnet, a NAT gateway and the slots of network card 0, in a rollout file."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.machine_edits import NETWORK_LINE, cluster, with_interfaces

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config import LoadedRollout

_CLUSTER = "waves[0].clusters[0]"
Findings = Callable[..., list[Finding]]
Load = Callable[..., LoadedRollout]


@pytest.mark.parametrize(
    "mistake",
    [
        ("10.0.0.0/16", "10.0.0.0/15", "UC3103", f"{_CLUSTER}.network.cidr", "/16 to /28"),
        ("10.0.0.0/16", "10.0.0.0", "UC3103", f"{_CLUSTER}.network.cidr", "got '10.0.0.0'"),
        ("10.0.0.0/16", "10.0.0.0/255.255.0.0", "UC3103", f"{_CLUSTER}.network.cidr", "/16 to /28"),
        ("10.0.0.0/16", "127.0.0.0/16", "UC3103", f"{_CLUSTER}.network.cidr", "reserved 127.0.0.0/8"),
        ("10.0.0.0/16", '"fd00::/16"', "UC3103", f"{_CLUSTER}.network.cidr", "IPv4"),
        (
            "{cidr: 1",
            "{subnet_prefix: 15, cidr: 1",
            "UC3105",
            f"{_CLUSTER}.network.subnet_prefix",
            "16 to 28",
        ),
        ("{cidr: 1", "{nic_layout: bach, cidr: 1", "UC4002", f"{_CLUSTER}.network.nic_layout", "'batch'?"),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


def test_interfaces_are_laid_out_one_by_one(load: Load) -> None:
    interfaces = ["card: 0, interface_type: efa"] + [
        f"card: {card}, interface_type: efa-only" for card in range(1, 16)
    ]
    loaded = load((NETWORK_LINE, with_interfaces(*interfaces)))
    assert loaded.warnings == ()
    layout = cluster(loaded).network.layout
    assert [(each.card, each.device) for each in layout if not isinstance(each, str)] == [
        (card, 0) for card in range(16)
    ]


@pytest.mark.parametrize("placement", ['""', '" group"', '"gr\\u00fcn"', "x" * 256])
def test_refuses_an_invalid_name_of_a_group(findings: Findings, placement: str) -> None:
    (finding,) = findings((NETWORK_LINE, f"        network: {{placement: {placement}}}\n"))
    assert finding.code == "UC3108"
