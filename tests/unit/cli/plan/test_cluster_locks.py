"""Commands lock the clusters that they deploy, in buckets that are folders."""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.cli._aws.folder_bucket import FolderBucket, asset_manifest, client_of

from ultracluster_cli._aws.target import ClusterTargets, Target, single_target
from ultracluster_cli.plan import cluster_locks
from ultracluster_cli.plan.cluster_locks import ClusterLocks, describe_locks
from ultracluster_runtime.rollout.cluster_lock import LEASE
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.plan import StackTemplate

CLUSTERS = ("canary-us-east-1", "pretrain-us-east-2")


@pytest.fixture
def bucket(tmp_path: Path) -> FolderBucket:
    return FolderBucket(tmp_path / "s3")


@pytest.fixture
def stacks(tmp_path: Path) -> list[StackTemplate]:
    """Two stacks of each cluster."""
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": asset_manifest(tmp_path)}))
    return [
        StackTemplate(
            cluster=cluster,
            name=f"{cluster}-{part}",
            region=cluster.partition("-")[2],
            template={},
            assembly=tmp_path,
        )
        for cluster in CLUSTERS
        for part in ("Network", "Cluster")
    ]


def targets(bucket: FolderBucket) -> ClusterTargets:
    return single_target(
        Target(name="account 1 as alice", local=False, environment={}, client=client_of(None, bucket))
    )


def folder(tmp_path: Path, name: str) -> Path:
    (tmp_path / name).mkdir(exist_ok=True)
    return tmp_path / name


def refused(stacks: list[StackTemplate], targets: ClusterTargets, state: Path) -> str:
    with ClusterLocks(targets, state=state) as locks, pytest.raises(FindingsError) as error:
        locks.take(stacks)
    return str(error.value)


def test_each_cluster_has_one_lock_while_a_command_runs(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate]
) -> None:
    with ClusterLocks(targets(bucket), state=tmp_path) as locks:
        locks.take(stacks)
        locks.require()
        held = [str(path.relative_to(bucket.folder)) for path in bucket.objects()]

    assert held == [
        f"cdk-hnb659fds-assets-123456789012-region/ultracluster/locks/{cluster}.json" for cluster in CLUSTERS
    ]
    assert bucket.objects() == []


def test_who_holds_a_lock_is_told_and_nothing_is_locked(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["/bin/ultracluster", "rollout", "my rollout.yaml"])
    with ClusterLocks(targets(bucket), state=folder(tmp_path, "one")) as locks:
        locks.take(stacks[2:])
        finding = refused(stacks, targets(bucket), folder(tmp_path, "other"))
        (sentence,) = describe_locks(stacks, targets(bucket))
        held = bucket.objects()

    assert finding.startswith(
        "error: pretrain-us-east-2 is being deployed: `ultracluster rollout 'my rollout.yaml'` by "
    )
    assert f", process {os.getpid()}, account 1 as alice since 20" in finding
    assert finding.startswith(f"error: {sentence.partition(', lock renewed')[0]}")
    assert len(held) == 1
    assert describe_locks(stacks, targets(bucket)) == []


def test_another_process_of_the_folder_is_refused_and_a_dead_one_is_not_waited_for(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate]
) -> None:
    with ClusterLocks(targets(bucket), state=tmp_path) as locks:
        locks.take(stacks)
        live = refused(stacks, targets(bucket), tmp_path)
        left = {path: path.read_bytes() for path in bucket.objects()}
    for path, content in left.items():  # as if that process had been killed
        path.write_bytes(content)

    elsewhere = refused(stacks, targets(bucket), folder(tmp_path, "other"))
    with ClusterLocks(targets(bucket), state=tmp_path) as locks:
        locks.take(stacks)
        locks.require(*CLUSTERS)

    assert all(finding.startswith("error: canary-us-east-1 ") for finding in (live, elsewhere))
    assert bucket.objects() == []


def test_an_expired_lock_is_taken_over_with_a_word(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate], capsys: pytest.CaptureFixture[str]
) -> None:
    with ClusterLocks(targets(bucket), state=folder(tmp_path, "dead")) as locks:
        locks.take(stacks[:2])
        ((path, content),) = [(path, path.read_bytes()) for path in bucket.objects()]
    path.write_bytes(content)
    bucket.age(LEASE.total_seconds() + 1)

    with ClusterLocks(targets(bucket), state=folder(tmp_path, "other")) as locks:
        locks.take(stacks[:2])

    assert "canary-us-east-1: took over an expired lock: `" in capsys.readouterr().err


def test_a_lock_that_was_taken_over_ends_the_work(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_locks, "_RENEW_SECONDS", 0.01)
    with ClusterLocks(targets(bucket), state=tmp_path) as locks:
        locks.take(stacks)
        locks.require()
        taken_over, _ = bucket.objects()
        taken_over.write_text("{}")
        with pytest.raises(
            FindingsError, match="error: canary-us-east-1 is no longer locked by this process"
        ):
            eventually(locks.require)
        locks.require("pretrain-us-east-2")

    assert bucket.objects() == [taken_over]


def eventually(raises: Callable[[], None]) -> None:
    """Call a function until it raises."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        raises()
        time.sleep(0.01)


def test_a_lock_that_cannot_be_written_is_a_failure(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutObject")

    monkeypatch.setattr(bucket, "put_object", denied)
    finding = refused(stacks, targets(bucket), tmp_path)

    assert finding.startswith("error: the lock of canary-us-east-1 cannot be written: ")


def test_stacks_without_a_bucket_for_assets_are_refused(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate]
) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {}}))

    finding = refused(stacks, targets(bucket), tmp_path)

    assert "its stacks have no assets" in finding


def test_the_role_that_publishes_assets_is_assumed_where_it_may_be(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate]
) -> None:
    """Whoever may deploy with the CDK may assume it; others use their own credentials."""
    assumed: list[str] = []

    class Sts(FolderBucket):
        def assume_role(self, *, RoleArn: str, RoleSessionName: str) -> Any:  # noqa: N803 - as boto3 has it
            assumed.append(f"{RoleSessionName} {RoleArn}")
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "AssumeRole")

    manifest = json.loads((tmp_path / "a.assets.json").read_text())
    role = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/publishing"
    manifest["files"]["t"]["destinations"]["current"]["assumeRoleArn"] = role
    (tmp_path / "a.assets.json").write_text(json.dumps(manifest))
    with ClusterLocks(targets(Sts(bucket.folder)), state=tmp_path) as locks:
        locks.take(stacks[:2])
        held = len(bucket.objects())

    assert held == 1
    assert assumed == ["ultracluster-lock arn:aws:iam::123456789012:role/publishing"]


def test_sigterm_releases_the_locks(
    tmp_path: Path, bucket: FolderBucket, stacks: list[StackTemplate]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with suppress(KeyboardInterrupt), ClusterLocks(targets(bucket), state=tmp_path) as locks:
        locks.take(stacks)
        signal.raise_signal(signal.SIGTERM)
        pytest.fail("SIGTERM was ignored")

    assert bucket.objects() == []
    assert signal.getsignal(signal.SIGTERM) is before
