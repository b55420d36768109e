"""The tests of moto that its authors ran against AWS, run against the local AWS; read from the source of the moto that is installed.

One service; all of them with LOCAL_AWS_ALL=1, nightly. `make -C localaws judges` gets them.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local import LocalAws

_HERE = Path(__file__).parent
_FOLDER = _HERE.parents[2] / ".ultracluster" / "judges"
_SOURCE = _FOLDER / f"moto-{version('moto')}"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _SOURCE.exists(), reason="needs make -C localaws judges"),
]

SERVICES = "events"
if os.environ.get("LOCAL_AWS_ALL"):
    SERVICES = "autoscaling awslambda cloudformation cloudwatch dynamodb ec2 events iam kms logs s3 s3control secretsmanager sns sqs ssm"
REFUSED = tomllib.loads((_HERE / "refused.toml").read_text("utf-8"))["moto"]
"""Tests that rightly fail, by reason."""

_WITHOUT_WAITING = (
    "import sys, time; time.sleep = lambda _: None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
)
_OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED) \S+?::(\w+)", re.MULTILINE)


def test_what_passed_on_aws_passes_here(local_aws: LocalAws, capsys: Any) -> None:
    files = [
        str(path.relative_to(_SOURCE))
        for service in SERVICES.split()
        for path in sorted((_SOURCE / "tests" / f"test_{service}").rglob("test_*.py"))
        if "aws_verified" in path.read_text("utf-8")
    ]
    environment = {
        **os.environ,
        **local_aws.environment("us-east-1"),
        "MOTO_TEST_ALLOW_AWS_REQUEST": "true",
        "PYTHONPATH": str(_FOLDER / "python"),
    }
    options = [
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:warnings",
        "-m",
        "aws_verified",
        "--tb=no",
        "--color=no",
    ]
    command = [sys.executable, "-c", _WITHOUT_WAITING, *options, *files]
    answered = subprocess.run(
        command, cwd=_SOURCE, env=environment, capture_output=True, text=True, check=False
    )
    said = answered.stdout

    found = _OUTCOME.findall(said)
    kinds = {name: kind for kind, table in REFUSED.items() for name in table}
    failed = [name for outcome, name in found if outcome in {"FAILED", "ERROR"}]
    counts = Counter(kinds.get(name, "wrong") for name in failed)
    counts["passed"] = sum(outcome == "PASSED" for outcome, _ in found)
    with capsys.disabled():
        print(f"\n{counts.total()} verified tests of moto: {dict(counts)}", end="")  # noqa: T201 - the count is the result

    assert counts["passed"], said[-2000:]
    assert {name for name in failed if name not in kinds} == set()
