"""A project whose CDK CLI is a fake, and what CloudFormation says of its stack."""

import copy
import json
from pathlib import Path
from typing import Any

import botocore.exceptions
from tests.unit.cli._aws.folder_bucket import asset_manifest

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


def write_assembly(
    folder: Path, template: dict[str, Any], *, account: str = "unknown-account", cluster: str = "a-us-east-2"
) -> Path:
    """An assembly of one stage with one stack."""
    stage = folder / "assembly-a"
    stage.mkdir(parents=True)
    inner = {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": stage.name, "displayName": cluster},
    }
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {"a": inner}}))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": f"aws://{account}/us-east-2",
        "properties": {"stackName": "a-Storage", "templateFile": "t.json"},
        "metadata": {"/a/Storage/Files/Resource": [{"type": "aws:cdk:logicalId", "data": "Files"}]},
    }
    (stage / "manifest.json").write_text(json.dumps({"artifacts": {"s": stack, **asset_manifest(stage)}}))
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

    def get_parameter(self, **_: Any) -> dict[str, Any]:
        said: Any = {"Error": {"Code": "ParameterNotFound", "Message": "no"}}
        raise botocore.exceptions.ClientError(said, "GetParameter")

    def get_template(self, **_: Any) -> dict[str, Any]:
        return {"TemplateBody": self.template}
