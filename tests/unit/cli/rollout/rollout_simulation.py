"""A project to roll out, with fakes of the CDK CLI and AWS."""

import json
import os
import time
from pathlib import Path
from typing import Any

import botocore.exceptions
import pytest
from tests.unit.cli._aws.folder_bucket import FolderBucket, client_of
from tests.unit.cli._cdk.fake_cdk import install_cdk
from tests.unit.cli.conftest import Run

from ultracluster_cli._aws import targets
from ultracluster_cli._aws.target import Target
from ultracluster_cli.plan import planning
from ultracluster_cli.plan.account import Answers
from ultracluster_cli.plan.former_clusters import FormerClusters
from ultracluster_cli.rollout import step_runner as rollout_steps

CLUSTERS = ("canary-us-east-1", "pretrain-us-east-2", "finetune-ap-southeast-4")

FAKE_CDK = """\
import fcntl, json, pathlib, sys, time
arguments = sys.argv[1:]
def option(name):
    return arguments[arguments.index(name) + 1]
if arguments[0] == "synth":
    root = pathlib.Path(option("--output"))
    template = json.loads(pathlib.Path("template.json").read_text())
    stages = {{}}
    for name in {clusters}:
        stage = root / f"assembly-{{name}}"
        stage.mkdir(parents=True)
        stages[name] = {{"type": "cdk:cloud-assembly",
                         "properties": {{"directoryName": stage.name, "displayName": name}}}}
        region = name.split("-", 1)[1]
        stack = {{"type": "aws:cloudformation:stack", "environment": f"aws://unknown-account/{{region}}",
                  "properties": {{"stackName": f"{{name}}-Cluster", "templateFile": "t.json"}}}}
        bucket = {{"bucketName": f"cdk-hnb659fds-assets-${{{{AWS::AccountId}}}}-{{region}}", "objectKey": "t.json"}}
        (stage / "s.assets.json").write_text(json.dumps({{"files": {{"t": {{"destinations": {{"current": bucket}}}}}}}}))
        assets = {{"type": "cdk:asset-manifest", "properties": {{"file": "s.assets.json"}}}}
        (stage / "manifest.json").write_text(json.dumps({{"artifacts": {{"s": stack, "s.assets": assets}}}}))
        (stage / "t.json").write_text(json.dumps(template))
    (root / "manifest.json").write_text(json.dumps({{"artifacts": stages}}))
else:
    name = arguments[1].removesuffix("/**")
    with open("deployed.log", "a") as log:
        log.write(name + (f"@{{option('--profile')}}" if "--profile" in arguments else "") + "\\n")
    if name in pathlib.Path("failing").read_text().split():
        print("Error: no such luck")
        sys.exit(1)
    template = pathlib.Path(option("--app"), f"assembly-{{name}}", "t.json").read_text()
    stack, until = (pathlib.Path("aws", f"{{name}}-Cluster{{suffix}}") for suffix in ("", ".until"))
    with open(pathlib.Path("aws", "mutex"), "w") as mutex:  # CloudFormation takes one operation of a stack at a time
        fcntl.flock(mutex, fcntl.LOCK_EX)
        changed = not stack.exists() or stack.read_text() != template
        busy = until.exists() and time.time() < float(until.read_text())
        if busy or changed:
            with open(pathlib.Path("aws", "operations.log"), "a") as log:
                log.write(f"{{name}} {{'refused' if busy else 'begun'}}\\n")
        if busy:
            print("Error: the stack is in the middle of an operation")
            sys.exit(1)
        if changed:
            end = time.time() + float(pathlib.Path("seconds").read_text())
            for path, text in ((until, str(end)), (stack, template)):
                path.with_suffix(".new").write_text(text)
                path.with_suffix(".new").rename(path)
            time.sleep(max(end - time.time(), 0))
"""


class Aws:
    """CloudFormation, of which the fake CDK CLI writes the stacks into a folder, and CloudWatch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = "CREATE_COMPLETE"
        self.alarms: dict[str, str] = {}
        self.exceptions = botocore.exceptions

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        if not (self.folder / StackName).exists():
            said: Any = {"Error": {"Code": "ValidationError", "Message": f"{StackName} does not exist"}}
            raise botocore.exceptions.ClientError(said, "DescribeStacks")
        until = self.folder / f"{StackName}.until"
        changing = until.exists() and time.time() < float(until.read_text())
        return {"Stacks": [{"StackStatus": "UPDATE_IN_PROGRESS" if changing else self.status}]}

    def get_template(self, *, StackName: str, TemplateStage: str) -> dict[str, Any]:  # noqa: N803 - likewise
        assert TemplateStage == "Original"
        return {"TemplateBody": json.loads((self.folder / StackName).read_text())}

    def get_paginator(self, operation: str) -> "Aws":
        assert operation == "list_stack_resources"
        return self

    def paginate(self, *, StackName: str) -> list[Any]:  # noqa: N803 - likewise
        alarms = [
            {
                "ResourceType": f"AWS::CloudWatch::{kind}",
                "LogicalResourceId": logical_id,
                "PhysicalResourceId": name,
            }
            for kind, logical_id, name in (
                ("Alarm", "ClusterAlarmsEccE5A0CE8B", StackName),
                ("Alarm", "ClusterAlarmsUnused29D0C7F1", f"{StackName}-Unused"),
                ("Alarm", "ClusterAlarmsDrainComing0A1B2C3D", f"{StackName}-DrainComing"),
                ("Alarm", "OwnUnused29D0C7F1", f"{StackName}-own"),
                ("CompositeAlarm", "ClusterAlarmsCluster12345678", f"{StackName}-composite"),
                ("CompositeAlarm", "OwnComposite12345678", f"{StackName}-own-composite"),
            )
        ]
        topic = {"ResourceType": "AWS::SNS::Topic", "LogicalResourceId": "Topic"}
        return [{"StackResourceSummaries": [*alarms, topic]}]

    def describe_alarms(self, *, AlarmNames: list[str], **_: Any) -> dict[str, Any]:  # noqa: N803 - likewise
        assert len(AlarmNames) <= 100, "DescribeAlarms takes no more names"
        return {
            "MetricAlarms": [
                {"AlarmName": name, "StateValue": self.alarms.get(name, "OK"), "StateReason": "too hot"}
                for name in AlarmNames
            ]
        }


def template(text: str) -> dict[str, Any]:
    return {"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": text}}}}


class Project:
    def __init__(self, folder: Path, run: Run, aws: Aws) -> None:
        self.folder, self.aws, self._run = folder, aws, run

    def rollout(self, *arguments: str) -> Any:
        return self._run("rollout", "--yes", "--bake", "0", *arguments)

    def wants(self, text: str) -> None:
        (self.folder / "template.json").write_text(json.dumps(template(text)))

    def fails(self, *names: str) -> None:
        (self.folder / "failing").write_text("\n".join(names))

    def deployed(self) -> list[str]:
        log = self.folder / "deployed.log"
        return log.read_text().split() if log.exists() else []

    def there(self, name: str) -> str:
        read = json.loads((self.folder / "aws" / f"{name}-Cluster").read_text())
        return str(read["Resources"]["Topic"]["Properties"]["DisplayName"])


def make_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path, run: Run) -> Project:
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text((quickstart.parent / "two-waves.yaml").read_text())
    (tmp_path / "aws").mkdir()
    install_cdk(tmp_path, FAKE_CDK.format(clusters=CLUSTERS))
    monkeypatch.chdir(tmp_path)
    aws = Aws(tmp_path / "aws")

    def account(profile: str | None = None) -> Target:
        given = os.environ.get("FAKE_ACCOUNT", "123456789012")
        return target(aws, account="999999999999" if profile else given, profile=profile)

    monkeypatch.setattr(targets, "account", account)
    monkeypatch.setattr(planning, "ask_accounts", lambda *_: Answers((), ()))  # see tests of the plan
    monkeypatch.setattr(planning, "find_former_clusters", lambda *_, **__: FormerClusters())  # likewise
    monkeypatch.setattr(rollout_steps, "run_checks", lambda *_, **__: [])  # see tests of preflight
    project = Project(tmp_path, run, aws)
    project.wants("one")
    project.fails()
    (tmp_path / "seconds").write_text("0")
    return project


def target(aws: Any, *, account: str = "123456789012", profile: str | None = None) -> Target:
    return Target(
        name=f"account {account}",
        local=False,
        environment=os.environ,
        client=client_of(aws, FolderBucket(Path("s3"), account=account)),
        account=account,
        profile=profile,
    )
