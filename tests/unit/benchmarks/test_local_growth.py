"""What one more cluster costs the local AWS does not depend on how many are there: no call lists what others have made."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import synthesize_rollout

from rollouts import write_rollout
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_stack, read_assembly
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.running import running, set_running
from ultracluster_local.server.in_process import before_send_handler

pytestmark = [pytest.mark.deep, pytest.mark.slow]

CLUSTERS = 3


@pytest.fixture
def answers(local_aws: LocalAws) -> Iterator[list[int]]:
    """The bytes of each answer that the services give to CloudFormation."""
    assert local_aws._server is not None
    answer, seen, before = before_send_handler(local_aws._server.application), list[int](), running()

    def noted(request: Any, **_: Any) -> Any:
        answered = answer(request)
        seen.append(len(answered.content))
        answered.raw.seek(0)  # a streamed body is read again by its caller
        return answered

    set_running(
        replace(before, clients=Clients(endpoint=local_aws.endpoint, key=local_aws.key, answer=noted))
    )
    yield seen
    set_running(before)


def test_a_further_cluster_takes_as_many_calls_and_bytes_as_the_first(
    local_aws: LocalAws, answers: list[int], tmp_path: Path
) -> None:
    assembly = tmp_path / "cdk.out"
    done = synthesize_rollout(write_rollout(tmp_path / "rollout.yaml", CLUSTERS), assembly)
    assert done.returncode == 0, done.stderr
    calls, bytes_read = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for stack in read_assembly(assembly):
        answers.clear()
        assert deploy_stack(local_aws, stack).status == "CREATE_COMPLETE"
        kind = stack.name.rpartition("-")[2]
        calls[kind].append(len(answers))
        bytes_read[kind].append(sum(answers))
    assert set(calls) == {"Network", "Storage", "Cluster"}
    for kind, counts in calls.items():
        assert counts == [counts[0]] * CLUSTERS
        assert counts[0] >= 10
        # Ids differ in length here and there.
        assert max(bytes_read[kind]) < 1.01 * min(bytes_read[kind])
