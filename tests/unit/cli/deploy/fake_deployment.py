"""A fake of the CDK CLI that synthesizes and deploys, and what it was called with."""

import json
import os
from pathlib import Path
from typing import Any

from tests.unit.cli._aws.folder_bucket import FolderBucket, client_of
from tests.unit.cli.plan.fake_project import CloudFormation

from ultracluster_cli._aws.target import Target

FAKE_CDK = """\
import json, os, pathlib, shutil, sys
command, arguments = sys.argv[1], sys.argv[1:]
pathlib.Path(f"called-{command}.json").write_text(json.dumps({"arguments": arguments, "environment": dict(os.environ)}))
if command == "synth":
    shutil.copytree("new", sys.argv[sys.argv.index("--output") + 1])
    sys.exit(0)
with open("all-calls.jsonl", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
print("✨  Synthesis time: 0.01s")
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


def account(profile: str | None = None, *, cloudformation: Any = None) -> Target:
    """Stands in for an account that credentials were found for, in which the stack of `fake_project` is deployed."""
    return Target(
        name=f"account of {profile}",
        local=False,
        environment=os.environ,
        client=client_of(cloudformation or CloudFormation(), FolderBucket(Path("s3"))),
        profile=profile,
    )


def called(project: Path, command: str = "deploy") -> dict[str, Any]:
    told: dict[str, Any] = json.loads((project / f"called-{command}.json").read_text())
    return told
