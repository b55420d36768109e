"""Checks of quotas."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, REGION, bought

from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_runtime.preflight import quotas
from ultracluster_runtime.preflight.check import (
    Status,
    checks_of,
)
from ultracluster_runtime.preflight.quotas import Share, evaluate_shares
from ultracluster_runtime.preflight.subjects import Region
from ultracluster_spec.file_system import FileSystem
from ultracluster_stacks.config import load_rollout


@pytest.mark.parametrize(
    ("value", "used", "needed", "status"),
    [
        (768.0, 0, 768, Status.PASS),
        (767.0, 0, 768, Status.FAIL),
        (768.0, 1, 768, Status.FAIL),
        (None, 0, 768, Status.WARN),
        (0.0, 768, 0, Status.SKIP),
    ],
)
def test_quota_must_cover_existing_and_added_usage(
    value: float | None, used: int, needed: int, status: Status
) -> None:
    share = Share(service="ec2", code="L-64569A79", name="vCPUs", value=value, used=used, needed=needed)
    outcome = evaluate_shares(REGION, [share])
    assert outcome.status is status
    if status is Status.FAIL:
        assert f"--desired-value {used + needed} --region us-east-2" in outcome.remedy


_, ON_DEMAND, SPOT, _, _, STORAGE, *_ = checks_of(quotas)


class Reader:
    """Every quota has 1000 vCPUs, and these instances run."""

    def __init__(self, *instances: dict[str, Any]) -> None:
        self.instances = instances

    def list_all(self, *_: Any, **__: Any) -> list[Any]:
        return [{"Instances": list(self.instances)}]

    def call_or_none(self, *_: Any, **__: Any) -> Any:
        return {"Quota": {"Value": 1000.0}}

    call = call_or_none


def instance(kind: str = "trn1.32xlarge", *, cluster: str = "", **more: Any) -> dict[str, Any]:
    return {"InstanceType": kind, "Tags": [{"Key": CLUSTER_TAG, "Value": cluster}], **more}


def region(market: Any, *, reservation_id: str | None = None) -> Region:
    return replace(REGION, clusters=(bought(market_type=market, reservation_id=reservation_id),))


@pytest.mark.parametrize(
    ("running", "used"),
    [
        (instance(), 128),
        (instance(cluster="train"), 0),
        (instance(cluster="other"), 128),
        (instance("m7i.large"), 0),
        (instance(InstanceLifecycle="spot"), 0),
        (instance(InstanceLifecycle="capacity-block"), 0),
        (instance("trn9.huge", CpuOptions={"CoreCount": 48, "ThreadsPerCore": 2}), 96),
    ],
)
def test_usage_on_demand_is_that_of_other_instances_of_the_family(running: dict[str, Any], used: int) -> None:
    reader: Any = Reader(running)
    (share,) = ON_DEMAND.gather(reader, region("on-demand"))

    assert (share.used, share.needed, share.value) == (used, 768, 1000)


def test_spot_instances_count_against_the_quota_on_spot() -> None:
    reader: Any = Reader(instance(InstanceLifecycle="spot"), instance())
    (share,) = SPOT.gather(reader, region("spot"))

    assert share.used == 128


def test_instances_in_a_reservation_need_no_quota_on_demand() -> None:
    reader: Any = Reader()

    assert ON_DEMAND.gather(reader, region("on-demand", reservation_id="cr-1")) == []


ROLLOUTS = Path(__file__).parents[4] / "stacks" / "rollouts"
PERSISTENT_QUOTA, SCRATCH_QUOTA = "L-8F1B9C74", "L-AD2FC696"  # Service Quotas


class StorageReader(Reader):
    """File systems under both quotas on Lustre and under none of them."""

    def list_all(self, *_: Any, **__: Any) -> list[Any]:
        kinds = {"SCRATCH_1": 1_200, "SCRATCH_2": 2_400, "PERSISTENT_1": 100, "PERSISTENT_2": 4_800}
        lustre = [
            {"StorageCapacity": size, "LustreConfiguration": {"DeploymentType": kind}}
            for kind, size in kinds.items()
        ]
        return [*lustre, {"FileSystemType": "ONTAP", "StorageCapacity": 1_024}]

    def call_or_none(self, call: str, *_: Any, **__: Any) -> Any:
        return None if call == "cloudformation:DescribeStacks" else {"Quota": {"Value": 1000.0}}


@pytest.mark.parametrize(
    ("kind", "quota", "used"),
    [("PERSISTENT_2", PERSISTENT_QUOTA, 4_800), ("SCRATCH_2", SCRATCH_QUOTA, 1_200 + 2_400)],
)
def test_usage_of_storage_is_that_of_file_systems_under_the_same_quota(
    kind: Any, quota: str, used: int
) -> None:
    reader: Any = StorageReader()
    system = FileSystem(deployment_type=kind, storage_capacity_gib=7_200)
    cluster = replace(CLUSTER, file_system=system)
    (share,) = STORAGE.gather(reader, replace(REGION, clusters=(cluster,)))

    assert (share.code, share.used, share.needed) == (quota, used, 7_200)


def totals(code: str, name: str) -> int:
    """What the first cluster of a rollout adds to a quota of which nothing is used yet."""

    class Empty(StorageReader):
        def list_all(self, *_: Any, **__: Any) -> list[Any]:
            return []

        def call(self, *_: Any, **__: Any) -> Any:
            return {"AvailabilityZones": []}

    (check,) = [check for check in checks_of(quotas) if check.code == code]
    clusters = load_rollout(ROLLOUTS / f"{name}.yaml").config.clusters()[:1]
    (share,) = check.gather(cast("Any", Empty()), replace(REGION, clusters=tuple(clusters)))
    return int(share.needed)


@pytest.mark.parametrize(
    ("name", "code", "needed"),
    [
        ("quickstart", "UC9411", 768),
        # Four nodes with 16 interfaces and one of a task, nine endpoints, and room for a growing file system.
        ("quickstart", "UC9418", 4 * 17 + 9 + 128),
        ("quickstart", "UC9416", 4_800),
        ("quickstart", "UC9414", 1),
        ("quickstart", "UC9415", 1),
        ("quickstart", "UC9417", 1),
        # A precompile job has a small node on demand, with a separate queue and environment.
        ("jobs", "UC9412", 8),
        ("jobs", "UC9414", 2),
        ("jobs", "UC9415", 2),
    ],
)
def test_what_a_rollout_adds(name: str, code: str, needed: int) -> None:
    assert totals(code, name) == needed
