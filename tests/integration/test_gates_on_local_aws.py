"""A rollout with gates on the local AWS: the paid job waits for them."""

import json
from pathlib import Path

import pytest
from tests.cfn_lint import lint
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_cli.main import main
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, read_assembly
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.slow

REGION = "us-east-2"
LINE = "          - name: pretrain\n"
GATES = "            gates: {fabric: true, min_bandwidth: 30, smoke: true}\n"


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("gates")
    text = QUICKSTART.read_text()
    assert LINE in text
    (directory / "rollout.yaml").write_text(text.replace(LINE, LINE + GATES, 1))
    synthesize(load_rollout(directory / "rollout.yaml").config.clusters(), directory / "cdk.out")
    return directory / "cdk.out"


def test_the_templates_are_clean(assembly: Path) -> None:
    stacks = read_assembly(assembly)
    assert len(stacks) == 3
    for stack in stacks:
        assert [str(each) for each in lint(stack.template.read_text(), regions=[REGION])] == []


def test_the_paid_job_waits_for_its_gates(
    assembly: Path, local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy_assembly(local_aws, assembly)
    for name, value in local_aws.environment(REGION).items():
        monkeypatch.setenv(name, value)
    assert main(["jobs", "submit", "quickstart", "pretrain", "--json"]) == 0
    submitted = json.loads(capsys.readouterr().out)
    fabric, smoke = submitted["depends_on"]
    batch = local_aws.client("batch", REGION)
    jobs = {
        each["jobId"]: each
        for each in batch.describe_jobs(jobs=[fabric["job"], smoke["job"], submitted["job"]])["jobs"]
    }

    def waits_for(job_id: str) -> set[str]:
        return {each["jobId"] for each in jobs[job_id].get("dependsOn", [])}

    assert waits_for(fabric["job"]) == set()
    assert waits_for(smoke["job"]) == {fabric["job"]}
    assert waits_for(submitted["job"]) == {fabric["job"], smoke["job"]}
    assert {each["nodeProperties"]["numNodes"] for each in jobs.values()} == {4}
    assert [jobs[each]["status"] for each in (smoke["job"], submitted["job"])] == ["PENDING", "PENDING"]
