"""A rehearsal of a cluster: without capacity, small, beside the real one, and changing nothing that exists."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.config.conftest import VALID

from ultracluster_runtime.rollout.rehearsal_record import cluster_digest
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.lustre import check_file_system
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.rehearsal import left_out, rehearsed

Write = Callable[[str], Path]

FILE_SYSTEM = "        file_system: {storage_capacity_gib: 4800, per_unit_storage_throughput: 250}\n"


def cluster_with(write: Write, *edits: tuple[str, str]) -> Cluster:
    text = VALID
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return load_rollout(write(text), deployable=False).config.clusters()[0]


def test_has_a_name_and_a_reservation_of_its_own(write: Write) -> None:
    cluster = cluster_with(write)
    rehearsal = rehearsed(cluster)

    assert rehearsal.stage == "rehearsal-train-us-east-2"
    assert rehearsal.capacity.reservation_id == "cr-000000000af637d3c"
    assert rehearsal.capacity.reservation_id != cluster.capacity.reservation_id
    assert rehearsal.notify == ()
    assert rehearsal.jobs == cluster.jobs
    assert rehearsal.nodes == cluster.nodes


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        ("{storage_capacity_gib: 9600, per_unit_storage_throughput: 1000}", 1200),
        ("{storage_capacity_gib: 96000, metadata_iops: 12000}", 1200),
        ("{deployment_type: SCRATCH_2, storage_capacity_gib: 4800}", 1200),
        (
            "{storage_type: INTELLIGENT_TIERING, throughput_capacity: 8000, read_cache: NO_CACHE, link_checkpoints: false}",
            None,
        ),
    ],
)
def test_the_file_system_is_the_smallest_of_its_kind(write: Write, settings: str, size: int | None) -> None:
    cluster = cluster_with(write, (FILE_SYSTEM, f"        file_system: {settings}\n"))

    system = rehearsed(cluster).file_system

    assert system.storage_capacity_gib == size
    assert system.throughput_capacity in (None, 4000)
    assert system.deployment_type == cluster.file_system.deployment_type
    assert system.per_unit_storage_throughput == cluster.file_system.per_unit_storage_throughput
    assert check_file_system(system.settings) == []


def test_capacity_that_nobody_reserved_is_rehearsed_as_it_is_and_nobody_is_told(write: Write) -> None:
    topic = "topic_arn: 'arn:aws:sns:us-east-2:123456789012:t'"
    settings = f"        alarms: {{{topic}}}\n        budget: {{monthly_usd: 900, {topic}}}\n"
    more = "        additional_capacity: [{name: more, market_type: on-demand}]\n"
    cluster = cluster_with(write, (FILE_SYSTEM, FILE_SYSTEM + settings + more))

    rehearsal = rehearsed(cluster)

    assert rehearsal.additional_capacity == cluster.additional_capacity
    assert rehearsal.alarms
    assert rehearsal.budget
    assert (rehearsal.alarms.topic_arn, rehearsal.budget.topic_arn) == (None, None)


def test_without_a_file_system_none_is_created(write: Write) -> None:
    assert (
        rehearsed(cluster_with(write), file_system=False).file_system.file_system_id == "fs-00000000000000000"
    )


SUBNET = """network:
          vpc_id: vpc-0123456789abcdef0
          subnet_id: subnet-0123456789abcdef0
          security_group_id: sg-0123456789abcdef0
          add_efa_rules: true
          default_security_group_id: sg-00000000000000001"""


def test_rules_are_added_to_no_existing_group(write: Write) -> None:
    cluster = cluster_with(write, ("network: {cidr: 10.0.0.0/16}", SUBNET))

    network = rehearsed(cluster).network

    assert (network.vpc_id, network.subnet_id) == ("vpc-0123456789abcdef0", "subnet-0123456789abcdef0")
    assert (network.security_group_id, network.default_security_group_id, network.add_efa_rules) == (
        None,
        None,
        False,
    )
    assert left_out(cluster) == ["rules in existing security groups"]


BUCKETS = """        checkpoints: {bucket_name: my-checkpoints}
        datasets: [{name: c4, bucket_name: my-data, file_system_path: /c4}]
"""


def test_existing_buckets_are_not_linked(write: Write) -> None:
    cluster = cluster_with(write, ("        notify:", BUCKETS + "        notify:"))

    rehearsal = rehearsed(cluster)

    assert rehearsal.checkpoints.bucket_name == "my-checkpoints"
    assert rehearsal.file_system.link_checkpoints is False
    assert rehearsal.datasets[0].file_system_path is None
    assert left_out(cluster) == ["links to existing buckets"]


S3_FILES = """            mounts:
              - {source: /opt/models}
              - {source: "arn:aws:s3files:us-east-2:123456789012:file-system/fs-0123456789abcdef0", path: /cache}
"""


def test_s3_files_get_no_second_mount_target(write: Write) -> None:
    command = "            command: [train.py]\n"
    cluster = cluster_with(write, (command, command + S3_FILES))

    assert [mount.source for job in rehearsed(cluster).jobs for mount in job.mounts] == ["/opt/models"]
    assert left_out(cluster) == ["S3 Files"]


def test_nothing_is_left_out_of_a_cluster_with_resources_of_its_own(write: Write) -> None:
    assert left_out(cluster_with(write)) == []


RESERVED = '          reservation_id: cr-0123456789abcdef0\n          start: "2026-12-01T12:00:00Z"\n          end: "2026-12-04T11:30:00Z"\n'


def test_a_purchase_keeps_the_digest_and_a_change_does_not(write: Write) -> None:
    ordered = cluster_with(write, (RESERVED, "          order: december\n"))
    bought = cluster_with(write, (RESERVED, RESERVED + "          order: december\n"))
    changed = cluster_with(write, ("nodes: 4", "nodes: 8"))

    assert cluster_digest(ordered) == cluster_digest(bought) == cluster_digest(cluster_with(write))
    assert cluster_digest(changed) != cluster_digest(bought)
    assert ordered.unresolved_orders == ["december"]
    assert bought.unresolved_orders == []


def test_two_orders_have_two_placeholders(write: Write) -> None:
    more = (
        "          order: december\n        additional_capacity:\n"
        "          - {name: more, market_type: capacity-block, order: january}\n"
    )
    cluster = cluster_with(write, (RESERVED, more))

    reservations: list[Any] = [capacity.reservation_id for _, capacity in rehearsed(cluster).sources()]
    assert len(set(reservations)) == 2
    assert all(name.startswith("cr-000000000") and len(name) == 20 for name in reservations)
