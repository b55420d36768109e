"""The constructs of aws-cdk-lib, with their defaults and with each option once: what AWS deploys, the local AWS deploys.

Every sixth app; all of them with LOCAL_AWS_ALL=1, nightly.
"""

import importlib.util
import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.constructs import apps
from tests.refusals import verdict

from ultracluster_local import LocalAws
from ultracluster_local.deploy import AssemblyStack, deploy_stack, read_assembly
from ultracluster_local.errors import LocalAwsError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("aws_cdk") is None, reason="needs aws-cdk-lib"),
]

EVERY = 1 if os.environ.get("LOCAL_AWS_ALL") else 6
REFUSED = tomllib.loads(Path(apps.__file__).with_suffix(".toml").read_text("utf-8"))["refused"]
"""Words of the refusals that are right: of AWS, or by the name of what is not simulated."""


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apps")
    subprocess.run([sys.executable, apps.__file__, str(folder), str(EVERY)], check=True, capture_output=True)
    return folder


def outcome(local: LocalAws, stack: AssemblyStack) -> str:
    """Deploy one app and return why it was refused; empty if it was not."""
    local.reset()
    try:
        result = deploy_stack(local, stack)
    except (ClientError, LocalAwsError) as error:
        return str(error)
    return "" if result.status == "CREATE_COMPLETE" else result.reason


def test_each_app_is_deployed_or_refused_for_a_reason(
    local_aws_server: LocalAws, assembly: Path, capsys: Any
) -> None:
    counts: Counter[str] = Counter()
    wrong = {}
    for stack in read_assembly(assembly):
        name, said = stack.name, outcome(local_aws_server, stack)
        became = verdict(name, said, REFUSED)
        counts[became] += 1
        if became == "wrong":
            wrong[name] = said
    with capsys.disabled():
        print(f"\n{counts.total()} apps: {dict(counts)}", end="")  # noqa: T201 - the count is the result

    assert wrong == {}
