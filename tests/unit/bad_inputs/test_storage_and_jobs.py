"""Rows 74 to 90: storage, jobs, money, watching and upgrades."""

from collections.abc import Callable

import pytest
from tests.unit.bad_inputs.rows import ON_DEMAND, Row, cluster, job, refused, taken

ROWS = [
    refused(
        74,
        "a size of 1000",
        [("storage_capacity_gib: 4800", "storage_capacity_gib: 1000")],
        "UC5101 19 @.file_system.storage_capacity_gib",
    ),
    refused(
        74,
        "a size of 1300",
        [("storage_capacity_gib: 4800", "storage_capacity_gib: 1300")],
        "UC5003 19 @.file_system.storage_capacity_gib",
    ),
    refused(
        74,
        "a size of -5",
        [("storage_capacity_gib: 4800", "storage_capacity_gib: -5")],
        "UC5101 19 @.file_system.storage_capacity_gib",
    ),
    refused(
        74,
        "a size of 1200.5",
        [("storage_capacity_gib: 4800", "storage_capacity_gib: 1200.5")],
        "UC1022 19 @.file_system.storage_capacity_gib",
    ),
    refused(
        74,
        "a size of 1000000000",
        [("storage_capacity_gib: 4800", "storage_capacity_gib: 1000000000")],
        "UC5101 19 @.file_system.storage_capacity_gib",
    ),
    refused(
        75, "a throughput of 333", [("250", "333")], "UC5002 19 @.file_system.per_unit_storage_throughput"
    ),
    refused(
        75,
        "scratch with a throughput",
        [("{storage", "{deployment_type: SCRATCH_2, storage")],
        "UC5002 19 @.file_system.per_unit_storage_throughput",
    ),
    refused(
        75,
        "metadata IOPS of 5000",
        [
            (
                "storage_capacity_gib: 4800, per_unit_storage_throughput: 250",
                "storage_capacity_gib: 4800, per_unit_storage_throughput: 250, metadata_iops: 5000",
            )
        ],
        "UC5006 19 @.file_system.metadata_iops",
    ),
    refused(
        75,
        "Intelligent-Tiering that is joined with S3",
        [
            (
                "storage_capacity_gib: 4800, per_unit_storage_throughput: 250",
                "storage_type: INTELLIGENT_TIERING, throughput_capacity: 4000, read_cache: NO_CACHE",
            ),
            cluster("datasets: [{name: data, file_system_path: /data}]"),
        ],
        "UC5020 13 @.datasets[0]",
    ),
    refused(
        76,
        "EFA for trn2",
        [
            (
                "storage_capacity_gib: 4800, per_unit_storage_throughput: 250",
                "storage_capacity_gib: 4800, per_unit_storage_throughput: 250, efa: true",
            )
        ],
        "UC5003 19 @.file_system.storage_capacity_gib",
        "UC5027 19 @.file_system.efa",
    ),
    refused(
        77,
        "a size off the step of EFA",
        [
            ("trn2.48xlarge", "p5.48xlarge"),
            (
                "storage_capacity_gib: 4800, per_unit_storage_throughput: 250",
                "storage_capacity_gib: 4800, per_unit_storage_throughput: 250, efa: true",
            ),
        ],
        "UC5003 19 @.file_system.storage_capacity_gib",
    ),
    refused(
        78,
        "two folders in each other",
        [
            cluster(
                "datasets: [{name: one, file_system_path: /data}, {name: two, file_system_path: /data/two}]"
            )
        ],
        "UC5023 13 @.datasets[1].file_system_path",
    ),
    refused(
        78,
        "the root of the file system",
        [cluster("datasets: [{name: one, file_system_path: /}]")],
        "UC5023 20 @.file_system.link_checkpoints",
    ),
    refused(
        78,
        "nine folders",
        [
            cluster(
                "datasets: [{name: d0, file_system_path: /d0}, {name: d1, file_system_path: /d1}, {name: d2, file_system_path: /d2}, {name: d3, file_system_path: /d3}, {name: d4, file_system_path: /d4}, {name: d5, file_system_path: /d5}, {name: d6, file_system_path: /d6}, {name: d7, file_system_path: /d7}, {name: d8, file_system_path: /d8}]"
            )
        ],
        "UC5021 13 @.datasets[0]",
    ),
    refused(
        79,
        "the bucket My_Bucket",
        [cluster("checkpoints: {bucket_name: My_Bucket}")],
        "UC5110 13 @.checkpoints.bucket_name",
    ),
    refused(
        79,
        "the bucket a..b",
        [cluster("checkpoints: {bucket_name: a..b}")],
        "UC5110 13 @.checkpoints.bucket_name",
    ),
    refused(
        79,
        "the bucket 192.168.5.4",
        [cluster("checkpoints: {bucket_name: 192.168.5.4}")],
        "UC5110 13 @.checkpoints.bucket_name",
    ),
    refused(
        79,
        "the bucket xn--bucket",
        [cluster("checkpoints: {bucket_name: xn--bucket}")],
        "UC5110 13 @.checkpoints.bucket_name",
    ),
    refused(
        79,
        "the bucket bucket-s3alias",
        [cluster("checkpoints: {bucket_name: bucket-s3alias}")],
        "UC5110 13 @.checkpoints.bucket_name",
    ),
    taken(
        79,
        "a bucket twice",
        [
            cluster(
                "checkpoints: {bucket_name: mine-and-yours}\n        datasets: [{name: data, bucket_name: mine-and-yours}]"
            )
        ],
        "UC2251 14 @.datasets[0].bucket_name",
    ),
    refused(
        79,
        "a key of another Region",
        [
            cluster(
                "checkpoints: {kms_key_arn: 'arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef'}"
            )
        ],
        "UC5104 13 @.checkpoints.kms_key_arn",
    ),
    refused(
        80,
        "checkpoints that go with the cluster",
        [cluster("checkpoints: {delete_on_destroy: true}")],
        "UC1020 13 @.checkpoints.delete_on_destroy",
    ),
    refused(81, "a job on more nodes than there are", [job("nodes: 5")], "UC6101 22 @.jobs[0].nodes"),
    refused(81, "a job on 1,001 nodes", [job("nodes: 1001")], "UC6101 22 @.jobs[0].nodes"),
    refused(81, "11 attempts", [job("attempts: 11")], "UC6104 22 @.jobs[0].attempts"),
    refused(81, "vCPUs of a job", [job("vcpus: 193")], "UC1020 22 @.jobs[0].vcpus"),
    taken(
        82,
        "a job that is longer than its block",
        [job("timeout_hours: 72")],
        "UC6105 22 @.jobs[0].timeout_hours",
    ),
    taken(83, "an image that moves", [(":2026-11-20", ":latest")], "UC6107 22 @.jobs[0].image"),
    taken(83, "an image without a tag", [(":2026-11-20", "")], "UC6107 22 @.jobs[0].image"),
    refused(83, "an image that cannot be", [("/training", "/Training")], "UC6106 22 @.jobs[0].image"),
    refused(84, "devices of a job", [job("neuron_devices: 16")], "UC1020 22 @.jobs[0].neuron_devices"),
    refused(
        84,
        "more processes than NeuronCores",
        [job("processes_per_node: 129")],
        "UC6103 22 @.jobs[0].processes_per_node",
    ),
    refused(
        85,
        "a budget of 0",
        [cluster("budget: {monthly_usd: 0, emails: [a@b.cd]}")],
        "UC6360 13 @.budget.monthly_usd",
    ),
    refused(
        85,
        "a threshold of 0",
        [cluster("budget: {monthly_usd: 5, emails: [a@b.cd], actual_percents: [0]}")],
        "UC6361 13 @.budget.actual_percents[0]",
    ),
    taken(
        85,
        "a threshold of 250",
        [cluster("budget: {monthly_usd: 5, emails: [a@b.cd], actual_percents: [250]}")],
    ),
    refused(
        85,
        "eleven thresholds",
        [cluster("budget: {monthly_usd: 5, emails: [a@b.cd], actual_percents: [1,2,3,4,5,6,7,8,9,10]}")],
        "UC6361 13 @.budget.actual_percents",
    ),
    taken(
        85,
        "a budget in eu-north-1",
        [
            ON_DEMAND,
            ("us-east-2\n", "eu-north-1\n"),
            ("use2-az3", "eun1-az1"),
            ("us-east-2.ama", "eu-north-1.ama"),
            cluster("budget: {monthly_usd: 5, emails: [a@b.cd]}"),
            ("trn2.48xlarge", "trn1.32xlarge"),
        ],
        "UC4106 10 @.zone_id",
    ),
    refused(
        86,
        "a topic of another Region",
        [cluster("alarms: {topic_arn: 'arn:aws:sns:us-west-2:123456789012:alarms'}")],
        "UC6447 13 @.alarms.topic_arn",
    ),
    refused(
        87,
        "copies to its own cache",
        [cluster("compile_cache: {replicate_to: [one, one]}")],
        "UC5140 13 @.compile_cache.replicate_to[1]",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_reacts(reaction: Callable[[str | bytes], tuple[int, tuple[str, ...]]], row: Row) -> None:
    assert reaction(row.text) == (row.exit_code, row.reaction)
