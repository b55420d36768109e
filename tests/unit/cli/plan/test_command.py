"""`ultracluster plan` with fakes of the CDK CLI and CloudFormation (the real ones: tests/integration)."""

import copy
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import botocore.exceptions
import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk

from ultracluster_cli._aws.target import Target
from ultracluster_cli.plan import command as plan

pytestmark = pytest.mark.process

Run = Callable[..., Any]

FAKE_CDK = """\
import json, os, pathlib, shutil, sys
if os.environ.get("FAKE_FAILURE"):
    print("no such luck")
    sys.exit(1)
pathlib.Path("called.json").write_text(json.dumps(sys.argv[1:]))
shutil.copytree("new", sys.argv[sys.argv.index("--output") + 1])
"""

FILE_SYSTEM = {
    "Type": "AWS::FSx::FileSystem",
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": 4800,
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2"},
    },
}
TEMPLATE = {"Resources": {"Files": FILE_SYSTEM, "Topic": {"Type": "AWS::SNS::Topic", "Properties": {}}}}
CHANGED = "change:a-Storage/Files"


def edited(path: str, value: Any) -> dict[str, Any]:
    template: dict[str, Any] = copy.deepcopy(TEMPLATE)
    place = template["Resources"]["Files"]["Properties"]
    *way, last = path.split(".")
    for part in way:
        place = place[part]
    place[last] = value
    return template


def write_assembly(folder: Path, template: dict[str, Any], *, account: str = "unknown-account") -> Path:
    """An assembly of one stage with one stack."""
    stage = folder / "assembly-a"
    stage.mkdir(parents=True)
    inner = {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": stage.name, "displayName": "a-us-east-2"},
    }
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {"a": inner}}))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": f"aws://{account}/us-east-2",
        "properties": {"stackName": "a-Storage", "templateFile": "t.json"},
        "metadata": {"/a/Storage/Files/Resource": [{"type": "aws:cdk:logicalId", "data": "Files"}]},
    }
    (stage / "manifest.json").write_text(json.dumps({"artifacts": {"s": stack}}))
    (stage / "t.json").write_text(json.dumps(template))
    return folder


class CloudFormation:
    """What CloudFormation says of the stack."""

    def __init__(self, template: Any = TEMPLATE, *, status: str = "CREATE_COMPLETE", error: str = "") -> None:
        self.template = template
        self.status = status
        self.error = error

    def describe_stacks(self, **_: Any) -> dict[str, Any]:
        if self.error:
            code, message = self.error.split(": ", 1)
            said: Any = {"Error": {"Code": code, "Message": message}}
            raise botocore.exceptions.ClientError(said, "DescribeStacks")
        return {"Stacks": [{"StackStatus": self.status}]}

    def get_template(self, **_: Any) -> dict[str, Any]:
        return {"TemplateBody": self.template}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Path:
    """A project whose CDK CLI is a fake that gives the folder `new`, in the current folder."""
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    install_cdk(tmp_path, FAKE_CDK)
    write_assembly(tmp_path / "old", TEMPLATE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Callable[[CloudFormation], None]:
    def deploy(cloudformation: CloudFormation) -> None:
        @contextmanager
        def account(_: str | None = None) -> Iterator[Target]:
            yield Target(
                name="account 123456789012",
                local=False,
                environment=os.environ,
                client=lambda *_: cloudformation,
                account="123456789012",
            )

        monkeypatch.setattr(plan, "account", account)

    return deploy


def test_a_safe_change_ends_with_0_and_leaves_no_folder(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("StorageCapacity", 9600))

    outcome = run("plan", "--against", "old")

    assert outcome.code == 0
    assert "StorageCapacity: 4800 -> 9600" in outcome.stdout
    assert "Safe to deploy: 1 to update in place" in outcome.stdout
    assert f"rollout={project / 'rollout.yaml'}" in json.loads((project / "called.json").read_text())
    assert list((project / ".ultracluster" / "tmp").iterdir()) == []
    assert not (project / "cdk.out").exists()


def test_shows_the_cost_difference_and_the_capacity_window(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("StorageCapacity", 9600))
    rollout = project / "rollout.yaml"
    said = run("plan", "--against", "old").stdout
    assert "a-us-east-2: capacity unknown; list prices: unknown (file system) USD" in said

    window = '          start: "2026-12-01T11:30:00Z"\n          end: "2026-12-15T11:30:00Z"\n        file_system:\n'
    rollout.write_text(rollout.read_text().replace("        file_system:\n", window, 1))
    for manifest in project.glob("*/manifest.json"):
        manifest.write_text(manifest.read_text().replace("a-us-east-2", "quickstart-us-east-2"))
    outcome = run("plan", "--against", "old", "--json")
    assert outcome.code == 0, outcome.stderr
    (told,) = json.loads(outcome.stdout)["clusters"]
    shown = run("plan", "--against", "old", "--markdown").stdout

    assert (told["name"], told["start"], told["end"]) == (
        "quickstart-us-east-2",
        "2026-12-01T11:30:00+00:00",
        "2026-12-15T11:30:00+00:00",
    )
    assert told["idle_month"] == {"low": None, "high": None, "without": ["file system"]}
    assert "- quickstart-us-east-2: capacity 2026-12-01 11:30 UTC to 2026-12-15 11:30 UTC" in shown


def test_an_unchanged_rollout_has_an_empty_plan(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)

    assert "Nothing changes" in run("plan", "--against", "old").stdout


def test_a_dangerous_change_exits_with_3_and_shows_how_to_allow_it(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("LustreConfiguration.DeploymentType", "SCRATCH_2"))

    outcome = run("plan", "--against", "old")

    assert outcome.code == 3
    assert "a/Storage/Files" in outcome.stdout
    assert "(forces replacement)" in outcome.stdout
    assert "--allow replace:a-Storage/Files" in outcome.stdout
    assert run("plan", "--against", "old", "--allow", "replace:a-Storage/Files").code == 0


def test_a_word_that_allows_nothing_is_refused(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "2.12"))

    outcome = run("plan", "--against", "old", "--allow", CHANGED, "--allow", "replace:a-Storage/Other")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9203")
    assert CHANGED in outcome.stderr


def test_json_holds_everything(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "2.12"))

    outcome = run("plan", "--against", "old", "--json", "--allow", CHANGED)

    told = json.loads(outcome.stdout)
    assert (outcome.code, told["stopped"], told["allowed"], told["against"]) == (0, False, [CHANGED], "old")
    (stack,) = told["stacks"]
    assert (stack["cluster"], stack["name"], stack["state"]) == ("a-us-east-2", "a-Storage", "changed")
    (change,) = stack["changes"]
    assert change["action"] == "update in place"
    assert change["properties"] == [
        {"path": "FileSystemTypeVersion", "before": "2.15", "after": "2.12", "replaces": False, "cause": ""}
    ]
    assert [(stop["kind"], stop["allow"]) for stop in change["stops"]] == [("data", CHANGED)]


def test_markdown_escapes_text_of_templates(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "`|</details>"))

    outcome = run("plan", "--against", "old", "--markdown")

    assert outcome.code == 3
    assert outcome.stdout.startswith("### Stopped, 1 reason: ")
    assert f"`--allow {CHANGED}`" in outcome.stdout
    assert "`FileSystemTypeVersion: 2.15 -> '\\|</details>`" in outcome.stdout


def test_json_and_markdown_together_are_refused(run: Run, project: Path) -> None:
    assert project
    assert run("plan", "--json", "--markdown").code == 2


def test_compares_with_the_deployed_stacks(run: Run, project: Path, deployed: Callable[..., None]) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "2.12"))

    for template in (TEMPLATE, json.dumps(TEMPLATE)):  # boto3 gives JSON as values, YAML as text
        deployed(CloudFormation(template))
        outcome = run("plan")
        assert outcome.code == 3
        assert "account 123456789012" in outcome.stdout


@pytest.mark.parametrize(
    "cloudformation",
    [
        CloudFormation(error="ValidationError: Stack with id a-Storage does not exist"),
        CloudFormation(status="REVIEW_IN_PROGRESS"),
        CloudFormation(status="ROLLBACK_COMPLETE"),
    ],
)
def test_a_stack_that_is_not_there_is_new(
    run: Run, project: Path, deployed: Callable[..., None], cloudformation: CloudFormation
) -> None:
    write_assembly(project / "new", TEMPLATE)
    deployed(cloudformation)

    outcome = run("plan")

    assert outcome.code == 0
    assert "a-Storage (us-east-2): new, with 2 resources" in outcome.stdout


@pytest.mark.parametrize(
    "cloudformation",
    [CloudFormation("Resources: !Ref"), CloudFormation(error="AccessDenied: cloudformation:DescribeStacks")],
)
def test_an_unreadable_stack_is_not_treated_as_new(
    run: Run, project: Path, deployed: Callable[..., None], cloudformation: CloudFormation
) -> None:
    write_assembly(project / "new", TEMPLATE)
    deployed(cloudformation)

    outcome = run("plan")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9205")


@pytest.mark.parametrize(("account", "code"), [("123456789012", 0), ("210987654321", 2)])
def test_a_stack_of_another_account_is_not_taken_for_new(
    run: Run, project: Path, deployed: Callable[..., None], account: str, code: int
) -> None:
    write_assembly(project / "new", TEMPLATE, account=account)
    deployed(CloudFormation())

    outcome = run("plan")

    assert outcome.code == code
    assert ("UC9204" in outcome.stderr) is (code == 2)


def test_a_failed_synthesis_shows_its_output(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAILURE", "1")

    outcome = run("plan", "--against", "old")

    assert outcome.code == 2
    assert "no such luck" in outcome.stderr
    assert "UC9201" in outcome.stderr
    assert (project / ".ultracluster" / "logs" / "cdk-synth.log").read_text() == "no such luck\n"


def test_a_folder_that_is_no_assembly_is_refused(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)

    assert "UC9202" in run("plan", "--against", "nowhere").stderr


def test_a_plan_against_the_local_aws_requires_a_running_one(run: Run, project: Path) -> None:
    assert project

    outcome = run("plan", "--local")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9206")


def test_another_wave_is_not_taken_for_gone(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)
    write_assembly(project / "both", TEMPLATE)
    manifest = json.loads((project / "both" / "manifest.json").read_text())
    manifest["artifacts"]["b"] = {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": "assembly-b", "displayName": "b-us-east-2"},
    }
    (project / "both" / "manifest.json").write_text(json.dumps(manifest))
    (project / "both" / "assembly-b").mkdir()
    text = (project / "both" / "assembly-a" / "manifest.json").read_text().replace("a-Storage", "b-Storage")
    (project / "both" / "assembly-b" / "manifest.json").write_text(text)
    (project / "both" / "assembly-b" / "t.json").write_text(json.dumps(TEMPLATE))

    assert "b-Storage (us-east-2): no longer defined" in run("plan", "--against", "both").stdout
    assert "b-Storage" not in run("plan", "--against", "both", "--wave", "first").stdout


def test_shows_the_usage_of_the_fullest_stack(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)

    text = run("plan", "--against", "old").stdout
    told = json.loads(run("plan", "--against", "old", "--json").stdout)

    assert text.splitlines()[-1].startswith(
        "Fullest stacks: 2 of 500 resources in a-Storage; 0 of 200 outputs"
    )
    size = (project / "new" / "assembly-a" / "t.json").stat().st_size
    assert told["headroom"][2] == {"what": "bytes", "stack": "a-Storage", "count": size, "most": 1_000_000}


def test_a_stack_that_cloudformation_would_refuse_is_refused(run: Run, project: Path) -> None:
    topics = {f"Topic{number}": {"Type": "AWS::SNS::Topic", "Properties": {}} for number in range(500)}
    write_assembly(project / "new", {"Resources": {**TEMPLATE["Resources"], **topics}})

    outcome = run("plan", "--against", "old")

    assert outcome.code == 2
    assert "UC9650" in outcome.stderr
    assert "502 of 500 resources in a-Storage" in outcome.stderr
