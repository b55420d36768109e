"""The figures of a machine have a source, and its disks and UltraServers are used as a whole."""

from collections.abc import Callable

from tests.unit.stacks.config.machine_edits import TYPE_LINE

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
_CLUSTER = "waves[0].clusters[0]"


def test_warns_of_a_part_of_an_ultraserver_and_refuses_a_job_that_cannot_be_joined(
    findings: Findings,
) -> None:
    part = findings((TYPE_LINE, TYPE_LINE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 2"))
    assert [(each.code, each.path) for each in part] == [("UC4029", f"{_CLUSTER}.nodes")]
    three = findings((TYPE_LINE, TYPE_LINE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 3"))
    assert ("UC4028", f"{_CLUSTER}.jobs[0].nodes") in [(each.code, each.path) for each in three]
