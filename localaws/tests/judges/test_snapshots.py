"""Templates that AWS's own people deployed to AWS, read from packages of npm: what AWS deploys, the local AWS deploys.

Every fourth; all of them with LOCAL_AWS_ALL=1, nightly. `make -C localaws judges` gets them.
"""

import json
import os
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.conftest import Stacks
from tests.refusals import verdict

from ultracluster_local import LocalAws

_HERE = Path(__file__).parent
_FOLDER = _HERE.parents[2] / ".ultracluster" / "judges" / "snapshots"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _FOLDER.exists(), reason="needs make -C localaws judges"),
]

EVERY = 1 if os.environ.get("LOCAL_AWS_ALL") else 4
REFUSED = tomllib.loads((_HERE / "refused.toml").read_text("utf-8"))["snapshots"]
"""Words of the refusals that are right: of AWS, or by the name of what is not simulated."""

_OF_THE_RECORDING = {
    r"test-region(-1)?(?=[a-f]?\b)": "us-east-1",
    r"\b12345678\b": "123456789012",
    # Runtimes that AWS has retired since.
    r"nodejs(8\.10|10\.x|12\.x|14\.x)": "nodejs22.x",
    r"python(2\.7|3\.6|3\.7)": "python3.13",
}


def template(path: Path) -> Any | None:
    """Return a template with the Region and account of the local AWS; None if it needs an asset, which no package has."""
    text = path.read_text("utf-8")
    for pattern, ours in _OF_THE_RECORDING.items():
        text = re.sub(pattern, ours, text)
    found = json.loads(text)
    found = found[0] if isinstance(found, list) else found
    needs = any("Default" not in one for one in found.get("Parameters", {}).values())
    return None if needs or "cdk-hnb659fds-assets" in text else found


def _slug(name: str) -> str:
    return re.sub(r"^integ\.|(\.lit)?\.(expected|template)\.json$", "", name)


def outcome(local: LocalAws, found: Any) -> str:
    """Deploy one template and return why it was refused; empty if it was not."""
    local.reset()
    stacks = Stacks(local)
    try:
        status = stacks.create(
            "snapshot", found, Capabilities=["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
        )
    except ClientError as error:
        return str(error)
    return "" if status == "CREATE_COMPLETE" else "; ".join(stacks.reasons("snapshot").values()) or status


def test_each_snapshot_is_deployed_or_refused_for_a_reason(local_aws_server: LocalAws, capsys: Any) -> None:
    counts: Counter[str] = Counter()
    wrong = {}
    paths = sorted(path for path in _FOLDER.rglob("*.json") if "DeployAssert" not in path.name)
    for path in paths[::EVERY]:
        found = template(path)
        if found is None:
            counts["asset"] += 1
            continue
        name = f"{path.relative_to(_FOLDER).parts[0].split('+')[1].split('@')[0]}/{_slug(path.name)}"
        said = outcome(local_aws_server, found)
        became = verdict(name, said, REFUSED)
        counts[became] += 1
        if became == "wrong":
            wrong[name] = said
    with capsys.disabled():
        print(f"\n{counts.total()} snapshots: {dict(counts)}", end="")  # noqa: T201 - the count is the result

    assert wrong == {}
