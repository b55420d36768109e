"""The machine of a cluster in the rollout file: types of one's own, interfaces one by one, placement, scratch."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_stacks.config import ClusterConfig, LoadedRollout

Findings = Callable[..., list[Finding]]
Load = Callable[..., LoadedRollout]

_CLUSTER = "waves[0].clusters[0]"
_TYPE = "        instance_type: trn2.48xlarge\n"
_NETWORK = "        network: {cidr: 10.0.0.0/16}\n"
_BLOCK = "market_type: capacity-block"
_ON_DEMAND = "market_type: on-demand"

_OWN = """\
        instance_type: trn9.48xlarge
        custom_instance_type:
          vcpus: 256
          memory_gib: 4096
          accelerator: Trainium9
          chips: 16
          device_memory_gib: 144
          cores_per_chip: 8
          logical_nc_config: 2
          network_cards: 16
          interfaces_per_card: 2
          gbps_per_card: 400
          ipv4_per_interface: 50
          nvme_disks: 4
          nvme_gb: 1900
          purchase_options: [capacity-block]
          nitro_generation: 6
          source: a press release
          dated: "2026-11-20"
"""


def cluster(loaded: LoadedRollout) -> ClusterConfig:
    return loaded.config.waves[0].clusters[0]


def with_interfaces(*interfaces: str) -> str:
    listed = "".join(f"            - {{{each}}}\n" for each in interfaces)
    return f"        network:\n          network_interfaces:\n{listed}"


# Types of one's own


def test_a_cluster_describes_a_type_that_the_catalogue_does_not_know(load: Load) -> None:
    loaded = load((_TYPE, _OWN))
    machine = cluster(loaded).machine
    assert (machine.name, machine.vcpus, machine.efa_interfaces) == ("trn9.48xlarge", 256, 16)
    assert (machine.logical_neuron_cores, machine.network_gbps) == (64, 6400)
    (warning,) = loaded.warnings
    assert (warning.code, warning.path) == ("UC4024", f"{_CLUSTER}.custom_instance_type")
    assert warning.location == "rollout.yaml:12"


def test_own_figures_may_come_from_the_defaults(load: Load) -> None:
    own = _OWN.replace("        instance_type: trn9.48xlarge\n", "").replace("\n      ", "\n")[6:]
    loaded = load((_TYPE, _TYPE.replace("trn2", "trn9")), ("defaults:\n", f"defaults:\n{own}"))
    assert cluster(loaded).machine.accelerator == "Trainium9"


def test_without_figures_the_type_must_be_known(findings: Findings) -> None:
    (finding,) = findings(("instance_type: trn2.48xlarge", "instance_type: trn9.48xlarge"))
    assert (finding.code, finding.path) == ("UC4001", f"{_CLUSTER}.instance_type")


@pytest.mark.parametrize(
    ("old", "new", "code", "path"),
    [
        ("vcpus: 256", "vcpus: 0", "UC4025", "vcpus"),
        ("vcpus: 256", 'vcpus: "256"', "UC1022", "vcpus"),
        ("          vcpus: 256\n", "", "UC1021", "vcpus"),
        ("chips: 16", "chip: 16", "UC1020", "chip"),
        ("[capacity-block]", "[lease]", "UC1023", "purchase_options[0]"),
        ("[capacity-block]", "[]", "UC4025", "purchase_options"),
        ('"2026-11-20"', "yesterday", "UC4025", "dated"),
        ("network_cards: 16", "network_cards: 65", "UC4025", "network_cards"),
    ],
)
def test_figures_are_checked_one_by_one(findings: Findings, old: str, new: str, code: str, path: str) -> None:
    found = {finding.path: finding for finding in findings((_TYPE, _OWN), (old, new))}
    assert found[f"{_CLUSTER}.custom_instance_type.{path}"].code == code
    # The name is not called unknown because its figures cannot be read.
    assert "UC4001" not in {finding.code for finding in found.values()}


def test_own_figures_reach_the_other_rules(findings: Findings) -> None:
    found = findings((_TYPE, _OWN), (_BLOCK, _ON_DEMAND))
    assert ("UC4104", f"{_CLUSTER}.capacity.market_type") in [(each.code, each.path) for each in found]


# Network interfaces one by one


def test_interfaces_are_laid_out_one_by_one(load: Load) -> None:
    interfaces = ["card: 0, interface_type: efa"] + [
        f"card: {card}, interface_type: efa-only" for card in range(1, 16)
    ]
    loaded = load((_NETWORK, with_interfaces(*interfaces)))
    assert loaded.warnings == ()
    layout = cluster(loaded).network.layout
    assert [(each.card, each.device) for each in layout if not isinstance(each, str)] == [
        (card, 0) for card in range(16)
    ]


@pytest.mark.parametrize(
    ("interfaces", "code", "path", "line"),
    [
        (["card: 1, interface_type: efa"], "UC4010", "network_interfaces", 19),
        (["card: 0, interface_type: efa", "card: 16, interface_type: efa"], "UC4011", "[1].card", 21),
        (
            ["card: 0, interface_type: efa", "card: 1, device: 2, interface_type: efa"],
            "UC4012",
            "[1].device",
            21,
        ),
        (["card: 0, interface_type: efa", "card: 0, interface_type: interface"], "UC4013", "[1]", 21),
        (
            ["card: 0, interface_type: efa", "card: 0, device: 1, interface_type: efa-only"],
            "UC4014",
            "[1].interface_type",
            21,
        ),
    ],
)
def test_an_illegal_interface_is_named_with_its_line(
    findings: Findings, interfaces: list[str], code: str, path: str, line: int
) -> None:
    found = {finding.code: finding for finding in findings((_NETWORK, with_interfaces(*interfaces)))}
    assert code in found
    assert found[code].path.endswith(path)
    assert found[code].location == f"rollout.yaml:{line}"


def test_warns_of_network_cards_without_efa(load: Load) -> None:
    loaded = load((_NETWORK, with_interfaces("card: 0, interface_type: efa")))
    assert [each.code for each in loaded.warnings] == ["UC4016"]


def test_warns_of_interfaces_that_leave_no_slot_for_the_task(load: Load) -> None:
    both = ("card: 0, interface_type: interface", "card: 0, device: 1, interface_type: efa-only")
    warnings = load((_NETWORK, with_interfaces(*both))).warnings
    found = {each.code: each.path for each in warnings}
    assert found["UC4017"] == f"{_CLUSTER}.network.network_interfaces"


# Placement


@pytest.mark.parametrize(
    ("market", "placement"),
    [
        (_BLOCK, "auto"),
        (_BLOCK, "none"),
        (_ON_DEMAND, "auto"),
        (_ON_DEMAND, "none"),
        (_ON_DEMAND, "my group"),
    ],
)
def test_takes_a_placement_that_fits_the_capacity(findings: Findings, market: str, placement: str) -> None:
    found = findings((_BLOCK, market), (_NETWORK, f"        network: {{placement: {placement}}}\n"))
    assert not {"UC3108", "UC4020"} & {each.code for each in found}


def test_refuses_a_block_in_a_placement_group(findings: Findings) -> None:
    (finding,) = findings((_NETWORK, "        network: {placement: my-group}\n"))
    assert (finding.code, finding.path) == ("UC4020", f"{_CLUSTER}.network.placement")


@pytest.mark.parametrize("placement", ['""', '" group"', '"gr\\u00fcn"', "x" * 256])
def test_refuses_what_is_no_name_of_a_group(findings: Findings, placement: str) -> None:
    (finding,) = findings((_NETWORK, f"        network: {{placement: {placement}}}\n"))
    assert finding.code == "UC3108"


# Existing security group

_SUBNET = "vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0"


def test_an_existing_security_group_is_taken_with_a_word_about_its_rules(load: Load) -> None:
    given = f"{{{_SUBNET}, security_group_id: sg-0123456789abcdef0}}"
    (warning,) = load((_NETWORK, f"        network: {given}\n")).warnings
    assert (warning.code, warning.path) == ("UC3106", f"{_CLUSTER}.network.security_group_id")


def test_an_existing_security_group_gets_its_rules_when_asked(load: Load) -> None:
    given = f"{{{_SUBNET}, security_group_id: sg-0123456789abcdef0, add_efa_rules: true}}"
    assert load((_NETWORK, f"        network: {given}\n")).warnings == ()


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("security_group_id: sg-0123456789abcdef0", "security_group_id"),
        ("add_efa_rules: true", "add_efa_rules"),
        (f"{_SUBNET}, security_group_id: my-group", "security_group_id"),
    ],
)
def test_refuses_a_security_group_that_cannot_be_found(findings: Findings, given: str, path: str) -> None:
    (finding,) = findings((_NETWORK, f"        network: {{{given}}}\n"))
    assert (finding.code, finding.path) == ("UC3109", f"{_CLUSTER}.network.{path}")


# Scratch


def test_takes_scratch_on_a_type_with_disks(load: Load) -> None:
    loaded = load((_TYPE, f"{_TYPE}        scratch_path: /scratch\n"))
    assert (cluster(loaded).scratch_path, loaded.warnings) == ("/scratch", ())


@pytest.mark.parametrize("path", ["/fsx", "/var/lib", "scratch"])
def test_refuses_scratch_where_something_else_is(findings: Findings, path: str) -> None:
    (finding,) = findings((_TYPE, f"{_TYPE}        scratch_path: {path}\n"))
    assert (finding.code, finding.path) == ("UC4027", f"{_CLUSTER}.scratch_path")


def test_refuses_scratch_without_disks(load: Load) -> None:
    with pytest.raises(FindingsError, match="UC4026"):
        load(
            (_TYPE, "        instance_type: inf2.48xlarge\n        scratch_path: /scratch\n"),
            (_BLOCK, _ON_DEMAND),
            ("- name: pretrain", "- name: pretrain\n            nodes: 1"),
        )


# UltraServers, and several nodes without EFA


def test_warns_of_a_part_of_an_ultraserver_and_refuses_a_job_that_cannot_be_joined(
    findings: Findings,
) -> None:
    part = findings((_TYPE, _TYPE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 2"))
    assert [(each.code, each.path) for each in part] == [("UC4029", f"{_CLUSTER}.nodes")]
    three = findings((_TYPE, _TYPE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 3"))
    assert ("UC4028", f"{_CLUSTER}.jobs[0].nodes") in [(each.code, each.path) for each in three]


@pytest.mark.parametrize(("said", "refused"), [("false", True), ("true", False)])
def test_several_nodes_without_efa_are_said_to_be_meant(findings: Findings, said: str, refused: bool) -> None:
    found = findings(
        (_TYPE, _TYPE.replace("trn2.48", "inf2.48")),
        (_BLOCK, _ON_DEMAND),
        ("- name: pretrain", f"- name: pretrain\n            without_efa: {said}"),
    )
    assert ("UC6102" in {each.code for each in found}) == refused
