"""The figures of a machine have a source, and its disks and UltraServers are used as a whole."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.machine_edits import BLOCK_MARKET, ON_DEMAND_MARKET, TYPE_LINE, cluster

from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]
Load = Callable[..., LoadedRollout]
_CLUSTER = "waves[0].clusters[0]"


def test_takes_scratch_on_a_type_with_disks(load: Load) -> None:
    loaded = load((TYPE_LINE, f"{TYPE_LINE}        scratch_path: /scratch\n"))
    assert (cluster(loaded).scratch_path, loaded.warnings) == ("/scratch", ())


@pytest.mark.parametrize("path", ["/fsx", "/var/lib", "scratch"])
def test_refuses_scratch_where_something_else_is(findings: Findings, path: str) -> None:
    (finding,) = findings((TYPE_LINE, f"{TYPE_LINE}        scratch_path: {path}\n"))
    assert (finding.code, finding.path) == ("UC4027", f"{_CLUSTER}.scratch_path")


def test_refuses_scratch_without_disks(load: Load) -> None:
    with pytest.raises(FindingsError, match="UC4026"):
        load(
            (TYPE_LINE, "        instance_type: inf2.48xlarge\n        scratch_path: /scratch\n"),
            (BLOCK_MARKET, ON_DEMAND_MARKET),
            ("- name: pretrain", "- name: pretrain\n            nodes: 1"),
        )


def test_warns_of_a_part_of_an_ultraserver_and_refuses_a_job_that_cannot_be_joined(
    findings: Findings,
) -> None:
    part = findings((TYPE_LINE, TYPE_LINE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 2"))
    assert [(each.code, each.path) for each in part] == [("UC4029", f"{_CLUSTER}.nodes")]
    three = findings((TYPE_LINE, TYPE_LINE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 3"))
    assert ("UC4028", f"{_CLUSTER}.jobs[0].nodes") in [(each.code, each.path) for each in three]
