"""Before a purchase: whether its cluster was rehearsed, in which Region, and as which version."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli._aws.test_rehearsals import AT, Parameters
from tests.unit.runtime.purchasing.example_orders import block_order

from ultracluster_cli.capacity.session import echo_rehearsals
from ultracluster_runtime.rollout.rehearsal_record import Rehearsal, cluster_digest, write_rehearsal
from ultracluster_stacks.config import load_rollout


class Session:
    """A session whose SSM has the record of a rehearsal of the quick start."""

    def __init__(self, digest: str) -> None:
        self.ssm = Parameters()
        write_rehearsal(self.ssm, "quickstart", Rehearsal(digest=digest, at=AT, passed=30, failures=()))

    def clients(self, service: str, region: str, **_: Any) -> Parameters:
        assert (service, region) == ("ssm", "us-east-2")
        return self.ssm


@pytest.mark.parametrize(
    ("version", "with_file", "said"),
    [
        ("same", True, "30 checks passed."),
        ("older", True, "as an older version of it."),
        ("older", False, "30 checks passed."),
    ],
)
def test_a_rollout_file_tells_an_older_version(
    capsys: pytest.CaptureFixture[str], quickstart: Path, version: str, said: str, *, with_file: bool
) -> None:
    (cluster,) = load_rollout(quickstart).config.clusters()
    session: Any = Session(cluster_digest(cluster) if version == "same" else "older")
    order = block_order(cluster="quickstart", regions=("us-east-2",))

    echo_rehearsals(order, session, quickstart if with_file else None)

    assert capsys.readouterr().err.endswith(f"{said}\n")
