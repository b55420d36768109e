"""A platform's queue in one app, a researcher's jobs in another: deployed, submitted and destroyed on the local AWS."""

import functools
import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.integration.test_examples import ROOT
from tests.unit.ultracluster.builders import ultra_cluster

from ultracluster_cli.main import main
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly

pytestmark = pytest.mark.slow

REGION = "us-east-2"


def platform(directory: Path) -> None:
    app = cdk.App(outdir=str(directory))
    stack = cdk.Stack(app, "Platform", env=cdk.Environment(region=REGION))
    cluster = ultra_cluster(stack)
    assert cluster.checkpoint_bucket is not None
    cdk.CfnOutput(stack, "Queue", value=cluster.queue.job_queue_arn)
    cdk.CfnOutput(stack, "Logs", value=cluster.queue.log_group_name)
    cdk.CfnOutput(stack, "Checkpoints", value=cluster.checkpoint_bucket.bucket_name)
    app.synth()


def research(directory: Path, outputs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "examples/research-jobs/app.py").read_text()
    for placeholder, output in {
        "arn:aws:batch:us-east-2:123456789012:job-queue/train": outputs["Queue"],
        "/platform/jobs": outputs["Logs"],
        "platform-checkpoints": outputs["Checkpoints"],
    }.items():
        assert placeholder in text
        text = text.replace(placeholder, output)
    with monkeypatch.context() as patch:
        patch.setattr(cdk, "App", functools.partial(cdk.App, outdir=str(directory)))
        exec(text, {})  # noqa: S102 - our example


def test_a_job_of_one_app_runs_on_the_queue_of_another(
    account: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    platform(tmp_path / "platform")
    (deployed,) = deploy_assembly(account, tmp_path / "platform")
    assert deployed.status == "CREATE_COMPLETE", deployed.reason
    (described,) = account.client("cloudformation", REGION).describe_stacks(StackName="Platform")["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in described["Outputs"]}
    research(tmp_path / "research", outputs, monkeypatch)
    (deployed,) = deploy_assembly(account, tmp_path / "research")
    assert deployed.status == "CREATE_COMPLETE", deployed.reason

    assert main(["jobs", "submit", "Research", "Pretrain", "--region", REGION, "--json"]) == 0
    job_id = json.loads(capsys.readouterr().out)["job"]

    (job,) = account.client("batch", REGION).describe_jobs(jobs=[job_id])["jobs"]
    assert job["jobQueue"] == outputs["Queue"]
    assert job["nodeProperties"]["numNodes"] == 2
    for directory in ("research", "platform"):
        (gone,) = destroy_assembly(account, tmp_path / directory)
        assert gone.status == "DELETE_COMPLETE", gone.reason
