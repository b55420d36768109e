"""The machine of a cluster in the rollout file: types of one's own, interfaces one by one, placement, scratch."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.machine_edits import OWN_TYPE, TYPE_LINE, cluster

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]
Load = Callable[..., LoadedRollout]
_CLUSTER = "waves[0].clusters[0]"


def test_a_cluster_describes_a_type_that_the_catalogue_does_not_know(load: Load) -> None:
    loaded = load((TYPE_LINE, OWN_TYPE))
    machine = cluster(loaded).machine
    assert (machine.name, machine.vcpus, machine.efa_interfaces) == ("trn9.48xlarge", 256, 16)
    assert (machine.logical_neuron_cores, machine.network_gbps) == (64, 6400)
    (warning,) = loaded.warnings
    assert (warning.code, warning.path) == ("UC4024", f"{_CLUSTER}.custom_instance_type")
    assert warning.location == "rollout.yaml:12"


def test_own_figures_may_come_from_the_defaults(load: Load) -> None:
    own = OWN_TYPE.replace("        instance_type: trn9.48xlarge\n", "").replace("\n      ", "\n")[6:]
    loaded = load((TYPE_LINE, TYPE_LINE.replace("trn2", "trn9")), ("defaults:\n", f"defaults:\n{own}"))
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
    found = {finding.path: finding for finding in findings((TYPE_LINE, OWN_TYPE), (old, new))}
    assert found[f"{_CLUSTER}.custom_instance_type.{path}"].code == code
    # The name is not called unknown because its figures cannot be read.
    assert "UC4001" not in {finding.code for finding in found.values()}
