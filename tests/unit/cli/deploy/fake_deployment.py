"""A fake of the CDK CLI that deploys, and what it was called with."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ultracluster_cli._aws.target import Target

Run = Callable[..., Any]


FAKE_CDK = """\
import json, os, pathlib, sys
pathlib.Path("called.json").write_text(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)}))
with open("all-calls.jsonl", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
stage = pathlib.Path("cdk.out/assembly-a")
stage.mkdir(parents=True, exist_ok=True)
(stage.parent / "manifest.json").write_text(json.dumps({"artifacts": {"a": {
    "type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-a", "displayName": "a"}}}}))
(stage / "manifest.json").write_text(json.dumps({"artifacts": {"n": {
    "type": "aws:cloudformation:stack", "environment": "aws://1/us-east-2", "properties": {"stackName": "a-N"}}}}))
print("✨  Synthesis time: 1.5s")
print("a/N (a-N): deploying... [1/1]")
if os.environ.get("FAKE_FAILURE") == "silent":
    print("connect ECONNREFUSED 127.0.0.1:1")
    sys.exit(1)
if os.environ.get("FAKE_FAILURE"):
    print("a-N | 1/3 | 3:43:52 AM | CREATE_FAILED | AWS::S3::Bucket | B no such luck")
    sys.exit(1)
print("✅  a/N (a-N)")
print("✨  Deployment time: 0.5s")
"""


@contextmanager
def account(profile: str | None = None) -> Iterator[Target]:
    """Stands in for an account that credentials were found for."""
    yield Target(
        name=f"account of {profile}",
        local=False,
        environment=os.environ,
        client=lambda *_: profile,
        profile=profile,
    )


def called(project: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((project / "called.json").read_text())
    return told
