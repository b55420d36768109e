"""A function sees nothing of the user's environment, and shares no folder with another function."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local import LocalAws

pytestmark = pytest.mark.process

SOURCE = """
import json, os, pathlib, tempfile

def handler(event, context):
    home = pathlib.Path.home()
    seen = sorted(path.name for path in [*home.iterdir(), *pathlib.Path(tempfile.gettempdir()).iterdir()])
    (home / event["leave"]).touch()
    return {"environment": dict(os.environ), "code": os.getcwd(), "home": str(home), "seen": seen}
"""
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
KNOWN = (
    "PATH",
    "LD_LIBRARY_PATH",
    "HOME",
    "TMPDIR",
    "_HANDLER",
    "LOCAL_AWS_FUNCTION_ARN",
    "LAMBDA_TASK_ROOT",
)
KNOWN_BEGINNINGS = ("AWS_", "CDK_", "LANG", "LC_", "PYTHON", "CHOSEN")


def create(local: LocalAws, name: str) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("index.py", SOURCE)
    role = local.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST))["Role"][
        "Arn"
    ]
    local.client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=role,
        Handler="index.handler",
        Code={"ZipFile": archive.getvalue()},
        Environment={"Variables": {"CHOSEN": "by the user"}},
    )


def invoke(local: LocalAws, name: str, leave: str) -> Any:
    answer = local.client("lambda").invoke(FunctionName=name, Payload=json.dumps({"leave": leave}))
    assert "FunctionError" not in answer
    return json.loads(answer["Payload"].read())


def test_function_sees_nothing_of_the_user(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "GITHUB_TOKEN",
        "SSH_AUTH_SOCK",
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "PYTHONPATH",
        "NODE_OPTIONS",
    ):
        monkeypatch.setenv(name, "of the user")
    create(local_aws, "one")
    found = invoke(local_aws, "one", "x")["environment"]

    assert "of the user" not in found.values()
    assert found["CHOSEN"] == "by the user"
    assert found["AWS_ACCESS_KEY_ID"] == local_aws.key
    assert [name for name in found if name not in KNOWN and not name.startswith(KNOWN_BEGINNINGS)] == []


def test_functions_share_no_folder(local_aws: LocalAws) -> None:
    for name in ("one", "two"):
        create(local_aws, name)
    one, two = invoke(local_aws, "one", "secret"), invoke(local_aws, "two", "x")

    assert two["seen"] == []
    assert one["home"] != two["home"]
    assert one["code"] != two["code"]  # although their code is the same
    assert not Path(one["home"]).is_relative_to(Path.home())
    assert invoke(local_aws, "one", "y")["seen"] == [
        "secret",
        "secret",
    ]  # home and temporary files are one folder
