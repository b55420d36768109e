"""`ultracluster deploy` with a fake CDK CLI (the real one: tests/integration)."""

import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from filelock import FileLock
from tests.unit.cli.conftest import Run
from tests.unit.cli.deploy.fake_deployment import account, called
from tests.unit.cli.plan.fake_project import TEMPLATE, CloudFormation, edited, write_assembly

from ultracluster_cli._aws import targets
from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli.deploy.deployment import DeployedStack, DeploymentProgress, is_as_wanted
from ultracluster_stacks.plan import StackTemplate

pytestmark = pytest.mark.slow


def planned(project: Path, *clusters: str) -> None:
    """Make the fake synthesize these clusters, from one template."""
    shutil.rmtree(project / "new")
    write_assembly(project / "new", edited("StorageCapacity", 9600), cluster="a")
    stage = json.loads((project / "new" / "manifest.json").read_text())["artifacts"]["a"]
    named = {name: stage | {"properties": stage["properties"] | {"displayName": name}} for name in clusters}
    (project / "new" / "manifest.json").write_text(json.dumps({"artifacts": named}))


def test_deploys_the_rollout_of_cdk_json_and_reports_each_step(run: Run, project: Path) -> None:
    outcome = run("deploy", "--yes")

    assert outcome.code == 0
    assert called(project)["arguments"][:2] == ["deploy", "**"]
    assert f"rollout={project / 'rollout.yaml'}" in called(project, "synth")["arguments"]
    assert "a/N: deployed, 0.5 s" in outcome.stderr
    assert "cdk deploy" in outcome.stdout


@pytest.mark.parametrize(("options", "told"), [([], False), (["--no-cache"], True)])
def test_unchanged_clusters_are_synthesized_only_with_no_cache(
    run: Run, project: Path, options: list[str], told: bool
) -> None:
    run("deploy", "--yes", *options)

    assert ("cache=false" in called(project, "synth")["arguments"]) == told


def test_the_cdk_cli_deploys_the_planned_assembly_and_does_not_ask_again(run: Run, project: Path) -> None:
    run("deploy", "--yes")

    arguments = called(project)["arguments"]
    assert arguments[arguments.index("--app") + 1] == str(project / "cdk.out")
    assert arguments[arguments.index("--require-approval") + 1] == "never"
    assert (project / "cdk.out" / "manifest.json").is_file()


def test_credentials_reach_the_cdk_cli_on_a_real_account(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "training")

    run("deploy", "--yes")

    environment = called(project)["environment"]
    assert environment["AWS_PROFILE"] == "training"
    python = shutil.which("python3", path=environment["PATH"])
    assert python is not None
    assert Path(python).parent == Path(sys.executable).parent
    assert Path(environment["TMPDIR"]).is_relative_to(project)
    assert list((project / ".ultracluster" / "tmp").iterdir()) == []  # removed with what was in it


def test_a_wave_is_passed_on(run: Run, project: Path) -> None:
    assert run("deploy", "rollout.yaml", "--wave", "first", "--yes").code == 0

    assert "wave=first" in called(project, "synth")["arguments"]


def test_a_failure_names_its_cause_and_the_log(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAILURE", "1")

    outcome = run("deploy", "--yes")

    log = project / ".ultracluster" / "logs" / "cdk-deploy.log"
    assert outcome.code == 4
    assert "CREATE_FAILED | AWS::S3::Bucket | B no such luck" in outcome.stderr
    assert f"error: cdk deploy ended with code 1; see {log}" in outcome.stderr
    assert "no such luck" in log.read_text()
    assert "Safe to deploy" in outcome.stdout


def test_a_second_deployment_has_its_own_log_and_says_why_it_failed(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAILURE", "silent")
    logs = project / ".ultracluster" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "cdk-deploy.log").write_text("the first one")

    (project / "cdk.out").mkdir()
    (project / "cdk.out" / "read-by-the-first").touch()

    with FileLock(logs / "cdk-deploy.lock"):
        outcome = run("deploy", "--yes")

    assert [file.name for file in (project / "cdk.out").iterdir()] == ["read-by-the-first"]
    own = logs / f"cdk-deploy-{os.getpid()}.log"
    assert "  | connect ECONNREFUSED 127.0.0.1:1\n" in outcome.stderr
    assert f"cdk deploy ended with code 1; see {own}" in outcome.stderr
    assert "ECONNREFUSED" in own.read_text()
    assert (logs / "cdk-deploy.log").read_text() == "the first one"


def test_clusters_of_several_profiles_are_deployed_one_profile_after_the_other(
    run: Run, project: Path, quickstart: Path
) -> None:
    text = (quickstart.parent / "two-waves.yaml").read_text()
    named = text.replace(
        "      - name: pretrain\n        region",
        "      - name: pretrain\n        profile: production\n        region",
    )
    assert named != text
    planned(project, "canary-us-east-1", "finetune-ap-southeast-4", "pretrain-us-east-2")
    (project / "rollout.yaml").write_text(named)

    outcome = run("deploy", "--yes")

    assert outcome.code == 0
    assert "account of None; account of production" in outcome.stderr
    own, production = (json.loads(line) for line in (project / "all-calls.jsonl").read_text().splitlines())
    assert own[1:3] == ["canary-us-east-1/**", "finetune-ap-southeast-4/**"]
    assert "--profile" not in own
    assert [each for each in production if each.endswith("/**")] == ["pretrain-us-east-2/**"]
    assert production[production.index("--profile") + 1] == "production"


def test_clusters_of_one_profile_are_deployed_at_once(run: Run, project: Path, quickstart: Path) -> None:
    text = (quickstart.parent / "two-waves.yaml").read_text()
    (project / "rollout.yaml").write_text(
        text.replace("defaults:\n", "defaults:\n  profile: production\n", 1)
    )

    planned(project, "pretrain-us-east-2")

    assert run("deploy", "--yes").code == 0

    (arguments,) = (json.loads(line) for line in (project / "all-calls.jsonl").read_text().splitlines())
    assert arguments[:2] == ["deploy", "**"]
    assert arguments[arguments.index("--profile") + 1] == "production"


def test_only_the_stacks_that_change_are_deployed(run: Run, project: Path) -> None:
    stage = project / "new" / "assembly-a"
    manifest = json.loads((stage / "manifest.json").read_text())
    changed = manifest["artifacts"].pop("s")
    same = changed | {"properties": changed["properties"] | {"stackName": "a-N", "templateFile": "n.json"}}
    named = {"n": same | {"displayName": "a/N (a-N)"}, "s": changed | {"displayName": "a/S (a-Storage)"}}
    (stage / "n.json").write_text(json.dumps(TEMPLATE))
    (stage / "manifest.json").write_text(json.dumps({"artifacts": named | manifest["artifacts"]}))

    outcome = run("deploy", "--yes")

    assert outcome.code == 0, outcome.stderr
    assert called(project)["arguments"][:4] == ["deploy", "a/S", "--exclusively", "--app"]
    assert "a/N: no changes, 0.0 s" in outcome.stderr


SETTINGS = {"tags": {"team": "a"}, "terminationProtection": True, "notificationArns": ["arn:aws:sns:::t"]}
DESCRIBED = {
    "StackStatus": "UPDATE_COMPLETE",
    "Tags": [{"Key": "team", "Value": "a"}],
    "EnableTerminationProtection": True,
    "NotificationARNs": ["arn:aws:sns:::t"],
}
PARAMETER = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/a"}


@pytest.mark.parametrize(
    ("described", "parameters", "as_wanted"),
    [
        ({}, {}, True),
        ({}, {"BootstrapVersion": PARAMETER}, True),
        ({}, {"Image": PARAMETER}, False),
        ({"StackStatus": "UPDATE_FAILED"}, {}, False),
        ({"StackStatus": "UPDATE_ROLLBACK_FAILED"}, {}, False),
        ({"StackStatus": "UPDATE_IN_PROGRESS"}, {}, False),
        ({"Tags": [{"Key": "team", "Value": "b"}]}, {}, False),
        ({"Tags": []}, {}, False),
        ({"EnableTerminationProtection": False}, {}, False),
        ({"NotificationARNs": []}, {}, False),
    ],
)
def test_a_stack_is_as_wanted_with_all_that_the_cdk_cli_compares(
    described: dict[str, Any], parameters: dict[str, Any], *, as_wanted: bool
) -> None:
    stack = StackTemplate(
        cluster="a", name="s", region="us-east-2", template={"Parameters": parameters}, settings=SETTINGS
    )
    cloudformation = SimpleNamespace(describe_stacks=lambda **_: {"Stacks": [DESCRIBED | described]})
    targets = SimpleNamespace(of=lambda _: SimpleNamespace(client=lambda *_: cloudformation))

    assert is_as_wanted(stack, cast("ClusterTargets", targets)) is as_wanted


def test_what_is_deployed_already_does_not_start_the_cdk_cli_again(run: Run, project: Path) -> None:
    shutil.rmtree(project / "new")
    write_assembly(project / "new", TEMPLATE)

    outcome = run("deploy", "--yes")

    assert outcome.code == 0
    assert ": no changes" in outcome.stderr
    assert not (project / "called-deploy.json").exists()
    assert (project / "cdk.out").exists()


def test_a_stack_that_failed_is_deployed_again_although_its_template_is_the_same(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(project / "new")
    write_assembly(project / "new", TEMPLATE)
    failed = CloudFormation(status="UPDATE_ROLLBACK_FAILED")
    monkeypatch.setattr(targets, "account", lambda _=None: account(cloudformation=failed))

    assert run("deploy", "--yes").code == 0
    assert (project / "called-deploy.json").exists()


FIRST = """
✨  Synthesis time: 1.72s

a-us-east-2-Network: start: Building a-us-east-2-Network Template
a-us-east-2-Network: success: Published a-us-east-2-Network Template (current_account-us-east-2-35987046)
a-us-east-2/Network (a-us-east-2-Network)
a-us-east-2-Network: creating CloudFormation changeset...
a-us-east-2/Network (a-us-east-2-Network): deploying... [1/4]
a-us-east-2-Network |  0/22 | 3:43:52 AM | CREATE_IN_PROGRESS      | AWS::CloudFormation::Stack | a-us-east-2-Network User Initiated
a-us-east-2-Network |  3/22 | 3:43:52 AM | CREATE_COMPLETE         | AWS::EC2::VPC              | Network/Vpc (NetworkVpc1)
""".splitlines()
REST = """

✅  a-us-east-2/Network (a-us-east-2-Network)

✨  Deployment time: 0.05s

Stack ARN:
arn:aws:cloudformation:us-east-2:123456789012:stack/a-us-east-2-Network/de8a7808-c0d3-45d4-8810-c84200ea21eb
b-us-east-2/Network (b-us-east-2-Network): deploying... [2/4]

✅  b-us-east-2/Network (b-us-east-2-Network) (no changes)

✨  Deployment time: 0s

✨  Total time: 2.82s
""".splitlines()


@pytest.fixture
def progress() -> DeploymentProgress:
    return DeploymentProgress()


def read(progress: DeploymentProgress, lines: list[str]) -> None:
    for line in lines:
        progress.read(line)


def test_each_stack_changed_or_not_is_returned_once_when_its_time_is_known(
    progress: DeploymentProgress,
) -> None:
    finished = [stack for line in FIRST + REST if (stack := progress.read(line))]

    assert [str(stack) for stack in finished] == [
        "a-us-east-2/Network: deployed, 0.1 s",
        "b-us-east-2/Network: no changes, 0.0 s",
    ]
    assert progress.deployed == [
        DeployedStack(name="a-us-east-2/Network (a-us-east-2-Network)", changed=True, seconds=0.05),
        DeployedStack(name="b-us-east-2/Network (b-us-east-2-Network)", changed=False, seconds=0.0),
    ]
    assert progress.current is None
    assert progress.failures == []


def test_records_failures(progress: DeploymentProgress) -> None:
    event = "a | 1/3 | 3:43:52 AM | CREATE_FAILED | AWS::S3::Bucket | B (B1) Resource handler returned message: no"
    read(progress, [*FIRST, event, "❌  a failed to deploy: ROLLBACK_COMPLETE"])

    assert progress.failures == [event, "❌  a failed to deploy: ROLLBACK_COMPLETE"]


def test_reads_through_colors(progress: DeploymentProgress) -> None:
    progress.read("\x1b[1ma-us-east-2/Network\x1b[22m: deploying... [1/2]")

    assert progress.current == "a-us-east-2/Network"


def test_keeps_the_last_lines_for_a_failure_in_other_words(progress: DeploymentProgress) -> None:
    read(progress, [*(f"line {number}" for number in range(100)), "connect ECONNREFUSED", ""])

    assert progress.failures == []
    assert progress.last_lines[-1] == "connect ECONNREFUSED"
    assert len(progress.last_lines) < 10


@pytest.mark.parametrize("line", ["", "Stack ARN:", "Outputs:", "x = deploying", "[WARNING] something"])
def test_other_lines_change_nothing(progress: DeploymentProgress, line: str) -> None:
    progress.read(line)
    progress.last_lines.clear()

    assert progress == DeploymentProgress()


# Showing it


def test_the_activity_follows_the_stack_and_its_resources(progress: DeploymentProgress) -> None:
    activities = [progress.activity]
    for line in FIRST + REST:
        progress.read(line)
        if progress.activity != activities[-1]:
            activities.append(progress.activity)

    assert activities == [
        "Preparing the next stack",
        "[1/4] a-us-east-2/Network",
        "[1/4] a-us-east-2/Network, 0 of 22 resources",
        "[1/4] a-us-east-2/Network, 3 of 22 resources",
        "Preparing the next stack",
        "[2/4] b-us-east-2/Network",
        "Preparing the next stack",
    ]
