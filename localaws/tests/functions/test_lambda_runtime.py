"""A function sees nothing of the user's environment, and shares no folder with another function."""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

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


def packed(source: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("index.py", source)
    return archive.getvalue()


def create(local: LocalAws, name: str, source: str = SOURCE) -> None:
    role = local.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST))["Role"][
        "Arn"
    ]
    local.client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=role,
        Handler="index.handler",
        Code={"ZipFile": packed(source)},
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
    assert found["AWS_ACCESS_KEY_ID"].startswith("ASIA")  # a session of its role
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


def result_of(local: LocalAws, name: str) -> int:
    answer = local.client("lambda").invoke(FunctionName=name, Payload=b"{}")
    return int(json.loads(answer["Payload"].read()))


@pytest.mark.parametrize("end", ["delete", "reset"])
def test_the_result_of_a_function_ends_with_it(local_aws: LocalAws, end: str) -> None:
    create(local_aws, "one", "import os\ndef handler(event, context):\n    return os.getpid()\n")
    process = result_of(local_aws, "one")
    assert result_of(local_aws, "one") == process

    if end == "delete":
        local_aws.client("lambda").delete_function(FunctionName="one")
    else:
        local_aws.reset()

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_changed_code_runs_in_a_new_process(local_aws: LocalAws) -> None:
    create(
        local_aws,
        "one",
        "count = 0\ndef handler(event, context):\n    global count\n    count += 1\n    return count\n",
    )
    assert [result_of(local_aws, "one"), result_of(local_aws, "one")] == [1, 2]

    local_aws.client("lambda").update_function_code(
        FunctionName="one", ZipFile=packed("def handler(event, context):\n    return 9\n")
    )

    assert result_of(local_aws, "one") == 9
