"""`ultracluster local` runs a local AWS in the background of the current folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from tests.unit.cli.conftest import Run

from ultracluster_cli.local.clock import Stage, target_time
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder, in which nothing runs at the end."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    run("local", "down")


def test_a_life_from_up_to_down(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    up = run("local", "up", "--region", "us-west-2", "--json")
    told = json.loads(up.stdout)

    assert up.code == 0
    assert told["environment"]["AWS_REGION"] == "us-west-2"
    assert list(told) == ["running", "endpoint", "pid", "log", "environment"]
    assert told["environment"]["AWS_ENDPOINT_URL"] == told["endpoint"]
    assert Path(told["log"]).is_relative_to(folder / ".ultracluster")

    shown = run("local", "status", "--json")
    assert shown.code == 0
    known = {key: told[key] for key in ("running", "endpoint", "pid", "log")}
    assert json.loads(shown.stdout) == known | {"recorded_only": []}
    assert told["endpoint"] in run("local", "status").stdout

    second = run("local", "up")
    assert second.code == 2
    assert second.stderr.startswith("UC8005: ")

    # The clock is shown and moves forward only.
    before = run("local", "clock").stdout.strip()
    assert run("local", "clock", "2030-01-01T00:00:00Z").stdout == "2030-01-01T00:00:00Z\n"
    assert before < "2030"
    assert run("local", "clock", "+13d").stdout == "2030-01-14T00:00:00Z\n"
    clock = json.loads(run("local", "clock", "--json").stdout)
    assert clock == {"now": "2030-01-14T00:00:00+00:00", "delivered": [], "ahead": []}
    for mistake in (
        ["2029-01-01"],
        ["soon"],
        ["+soon"],
        ["--to", "drain"],
        ["--to", "lunch"],
        ["+1d", "--to", "end"],
    ):
        refused = run("local", "clock", *mistake)
        assert refused.code == 2, mistake
        assert refused.stderr.startswith(("UC6204: ", "error: ")), refused.stderr

    assert run("local", "down").stderr == "Stopped the local AWS.\n"
    assert run("local", "down").stderr == "No local AWS was running here.\n"

    # A shell that uses it gets rid of all that `up` has exported.
    monkeypatch.setenv("ULTRACLUSTER_LOCAL", "here")
    told_again = run("local", "down").stdout.split()
    assert told_again[:2] == ["unset", "ULTRACLUSTER_LOCAL"]
    assert set(told_again[1:]) >= set(told["environment"])


def test_a_stage_that_is_over_is_refused_with_those_that_are_ahead() -> None:
    now = datetime(2026, 12, 1, 12, tzinfo=UTC)
    known = [
        Stage(at=now + timedelta(hours=hours), name=name, reservation="cr-1")
        for name, hours in (("start", -1), ("drain", 1))
    ]

    with pytest.raises(
        FindingsError, match=r"got 'start'\. Allowed: a stage that a block has ahead: drain\. "
    ):
        target_time(None, "start", now=now, known=known)
    assert target_time(None, "drain", now=now, known=known) > now + timedelta(hours=1)


def test_down_stops_the_local_aws_that_the_shell_uses_from_another_folder(
    run: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = json.loads(run("local", "up", "--json").stdout)["environment"]
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert run("local", "down").stderr == "No local AWS was running here.\n"

    monkeypatch.setenv("ULTRACLUSTER_LOCAL", environment["ULTRACLUSTER_LOCAL"])
    stopped = run("local", "down")

    assert stopped.stderr == "Stopped the local AWS.\n"
    assert "AWS_ENDPOINT_URL" in stopped.stdout.removeprefix("unset ").split()
    monkeypatch.chdir(folder)
    assert run("local", "status").code == 6


def test_every_command_reports_that_no_local_aws_is_running(run: Run, folder: Path) -> None:
    assert folder.exists()

    status = run("local", "status", "--json")
    assert status.code == 6
    assert json.loads(status.stdout) == {
        "running": False,
        "endpoint": None,
        "pid": None,
        "log": None,
        "recorded_only": [],
    }
    assert "ultracluster local up" in run("local", "status").stderr

    environment = run("local", "env")
    assert environment.code == 6
    assert environment.stdout == ""  # eval of it changes nothing

    assert run("local", "reset").code == 2
    assert run("local", "clock").code == 6


def test_up_prints_lines_that_a_shell_can_take_over_and_no_real_credentials_and_reset_empties_it(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder.exists()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real-secret")

    up = run("local", "up", "--run-jobs", "--image", f"training={sys.prefix}")
    assert up.code == 0
    told = json.loads(run("local", "status", "--json").stdout)

    # What was made is gone after a reset; the Region is bootstrapped again.
    told["environment"] = dict(
        line.removeprefix("export ").split("=", 1)
        for line in up.stdout.splitlines()
        if line.startswith("export ")
    )
    bucket = "cdk-hnb659fds-assets-123456789012-us-east-2"
    assert buckets(told) == [bucket]
    client(told, "s3").create_bucket(
        Bucket="mine", CreateBucketConfiguration={"LocationConstraint": "us-east-2"}
    )
    template = {"Resources": {"Group": {"Type": "AWS::Athena::WorkGroup", "Properties": {"Name": "g"}}}}
    client(told, "cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(template))
    assert json.loads(run("local", "status", "--json").stdout)["recorded_only"] == ["AWS::Athena::WorkGroup"]
    assert "Recorded only, not simulated: AWS::Athena::WorkGroup\n" in run("local", "status").stderr
    assert run("local", "reset").code == 0
    assert buckets(told) == [bucket]

    lines = run("local", "env", "--region", "us-west-2").stdout

    assert f"export AWS_ENDPOINT_URL={told['endpoint']}\n" in up.stdout
    assert "real-secret" not in up.stdout + up.stderr + lines
    assert up.stdout == lines.replace("us-west-2", "us-east-2")

    assert all(line.startswith(("export ", "unset ")) for line in lines.splitlines())
    shell = subprocess.run(
        ["sh", "-c", f'{lines}\nprintf "%s %s %s" "$AWS_ENDPOINT_URL" "$AWS_REGION" "${{AWS_PROFILE-none}}"'],
        env={"PATH": os.environ["PATH"], "AWS_PROFILE": "real"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout == f"{told['endpoint']} us-west-2 none"


def test_jobs_run_only_on_request_and_images_are_checked(run: Run, folder: Path) -> None:
    assert "--run-jobs" in run("local", "up", "--image", f"training={sys.prefix}").stderr
    assert run("local", "up", "--run-jobs", "--image", f"training={folder}").stderr.startswith("UC6204: ")
    assert run("local", "status").code == 6


def buckets(told: dict[str, Any]) -> list[str]:
    names = [bucket["Name"] for bucket in client(told, "s3").list_buckets()["Buckets"]]
    return [name for name in names if not name.endswith("-us-east-1")]


def client(told: dict[str, Any], service: str) -> Any:
    return botocore.session.Session().create_client(
        service,
        region_name=told["environment"]["AWS_REGION"],
        endpoint_url=told["endpoint"],
        aws_access_key_id=told["environment"]["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=told["environment"]["AWS_SECRET_ACCESS_KEY"],
    )
