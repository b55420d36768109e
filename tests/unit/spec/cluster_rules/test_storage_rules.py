"""The storage of a cluster is what FSx and S3 accept."""

import pytest
from tests.unit.stacks.config.bucket_edits import BUCKET_KEY, JOBS_LINE, bucket_findings
from tests.unit.stacks.config.file_system_edits import (
    BOTH_SIZES,
    EXISTING,
    KNOWN,
    Findings,
    file_system_findings,
)

_KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        ("checkpoints: {bucket_name: ours, noncurrent_days: 9}", "UC5112", "checkpoints.noncurrent_days"),
        ("datasets: [{name: c4}, {name: c4}]", "UC5113", "datasets[1].name"),
        ("kms_key_arn: alias/training", "UC5102", "kms_key_arn"),
        (
            "datasets: [{name: c4, bucket_name: ours, noncurrent_days: 9}]",
            "UC5112",
            "datasets[0].noncurrent_days",
        ),
        (
            f"datasets: [{{name: c4, kms_key_arn: '{BUCKET_KEY.replace('us-east-2', 'eu-west-1')}'}}]",
            "UC5104",
            "datasets[0].kms_key_arn",
        ),
        ("datasets: [{name: c4, file_system_path: c4}]", "UC5022", "datasets[0].file_system_path"),
        (
            "datasets: [{name: c4, file_system_path: /checkpoints/c4}]",
            "UC5023",
            "file_system.link_checkpoints",
        ),
    ],
)
def test_refuses_a_bucket_at_its_place(findings: Findings, line: str, code: str, place: str) -> None:
    assert bucket_findings(findings, line) == [(code, place)]


def test_one_bucket_is_not_joined_twice(findings: Findings) -> None:
    lines = (
        "checkpoints: {bucket_name: ours}",
        "datasets: [{name: c4, bucket_name: ours, file_system_path: /c4}]",
    )
    assert bucket_findings(findings, *lines) == [("UC5024", "file_system.link_checkpoints")]


def test_a_dataset_is_not_shown_on_an_existing_file_system(findings: Findings) -> None:
    existing = (
        "file_system_id: fs-0123456789abcdef0, mount_name: abcdefgh, zone_id: use2-az3, "
        "security_group_id: sg-0123456789abcdef0"
    )
    found = findings(
        ("storage_capacity_gib: 4800, per_unit_storage_throughput: 250", existing),
        (JOBS_LINE, "        datasets: [{name: c4, file_system_path: /c4}]\n" + JOBS_LINE),
    )
    assert [(each.code, each.path) for each in found] == [
        ("UC5103", "waves[0].clusters[0].datasets[0].file_system_path")
    ]


@pytest.mark.parametrize(
    ("settings", "code", "place"),
    [
        ("storage_type: INTELLIGENT_TIERING, read_cache: NO_CACHE", "UC5020", "link_checkpoints"),
        ("backup_retention_days: 7", "UC5014", "backup_retention_days"),
        ("efa: true, storage_capacity_gib: 19200", "UC5027", "efa"),
        (f"kms_key_arn: {_KEY.replace('us-east-2', 'us-east-1')}", "UC5104", "kms_key_arn"),
    ],
)
def test_refuses_what_fsx_refuses_in_this_cluster(
    findings: Findings, settings: str, code: str, place: str
) -> None:
    """What FSx refuses anywhere: tests/unit/spec/test_lustre.py and its siblings."""
    assert file_system_findings(findings, settings) == [(code, f"file_system.{place}")]


@pytest.mark.parametrize(
    ("instance_type", "nodes", "fits"),
    [
        ("p5.48xlarge", 64, True),
        ("trn1.32xlarge", 128, True),
        ("trn1.32xlarge", 129, False),
        ("trn1n.32xlarge", 65, False),
    ],
)
def test_nodes_that_can_mount_over_efa_may_while_connections_last(
    findings: Findings, instance_type: str, nodes: int, fits: bool
) -> None:
    found = findings(
        (f"{{{BOTH_SIZES}}}", "{efa: true, storage_capacity_gib: 19200}"),
        ("trn2.48xlarge", instance_type),
        ("nodes: 4", f"nodes: {nodes}"),
    )
    assert ("UC5105" in [each.code for each in found]) != fits
    assert "UC5027" not in [each.code for each in found]


@pytest.mark.parametrize(
    ("associations", "found"),
    [
        (["/checkpoints/old s3://a-bucket"], [("UC5023", "file_system.link_checkpoints")]),
        (["/a s3://a-bucket/x/", "/b s3://a-bucket/y/"], []),
        (
            ["/a s3://a-bucket", "/a/b s3://a-bucket/y"],
            [
                ("UC5023", "file_system.associations[1].file_system_path"),
                ("UC5024", "file_system.associations[1].data_repository_path"),
            ],
        ),
        (["/a s3://a-bucket [GONE]"], [("UC1023", "file_system.associations[0].import_events[0]")]),
        ([f"/d{i} s3://bucket-{i}" for i in range(7)], []),
        ([f"/d{i} s3://bucket-{i}" for i in range(8)], [("UC5021", "file_system.associations")]),
    ],
)
def test_associations_are_judged_together_with_that_of_the_checkpoints(
    findings: Findings, associations: list[str], found: list[tuple[str, str]]
) -> None:
    items = []
    for each in associations:
        folder, path, *events = each.split(" ", maxsplit=2)
        item = f"file_system_path: {folder}, data_repository_path: '{path}'"
        items.append("{" + item + (f", import_events: {events[0]}" if events else "") + "}")
    assert file_system_findings(findings, f"associations: [{', '.join(items)}]") == found


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (KNOWN, []),
        (f"{KNOWN}, dns_name: fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com", []),
        (EXISTING, [("UC5032", "file_system_id"), ("UC5033", "file_system_id")]),
        (KNOWN.replace("use2-az3", "use2-az1"), [("UC5031", "zone_id")]),
        (KNOWN.replace("mount_name: abcdefgh, ", ""), [("UC5103", "file_system_id")]),
        (f"{KNOWN}, storage_capacity_gib: 4800", [("UC5103", "storage_capacity_gib")]),
        (f"{KNOWN}, data_compression: false", [("UC5103", "data_compression")]),
        ("mount_name: abcdefgh", [("UC5103", "mount_name")]),
        (KNOWN.replace("fs-0", "fs-X"), [("UC5030", "file_system_id")]),
        (KNOWN.replace("abcdefgh", "abcdefghi"), [("UC5030", "mount_name")]),
    ],
)
def test_a_file_system_is_an_existing_one_or_a_new_one(
    findings: Findings, settings: str, found: list[tuple[str, str]]
) -> None:
    assert file_system_findings(findings, settings) == [(code, f"file_system.{name}") for code, name in found]


@pytest.mark.parametrize(
    ("form", "line", "code", "place"),
    [
        ("", "", "UC1021", "file_system"),
        (" nowhere", "", "UC1022", "file_system"),
        (" [none]", "", "UC1022", "file_system"),
        (" none", "compile_cache: {on_file_system: true}", "UC6016", "compile_cache.on_file_system"),
        (" none", "datasets: [{name: c4, file_system_path: /c4}]", "UC5103", "datasets[0].file_system_path"),
        (" none", "scratch_path: /fsx", None, ""),
    ],
)
def test_a_cluster_has_settings_of_a_file_system_or_the_word_for_none(
    findings: Findings, form: str, line: str, code: str | None, place: str
) -> None:
    whole = "file_system: {storage_capacity_gib: 4800, per_unit_storage_throughput: 250}"
    found = findings((whole, f"file_system:{form}"), (JOBS_LINE, f"        {line}\n{JOBS_LINE}"))
    assert [(each.code, each.path.rpartition("clusters[0].")[2]) for each in found] == (
        [(code, place)] if code else []
    )


def test_what_cannot_be_read_hides_no_other_problem(findings: Findings) -> None:
    found = file_system_findings(findings, "backup_retention_days: many, kms_key_arn: alias/fsx, efa: true")
    assert sorted(found) == [
        ("UC1022", "file_system.backup_retention_days"),
        ("UC5003", "file_system.storage_capacity_gib"),  # EFA needs a larger one
        ("UC5027", "file_system.efa"),
        ("UC5102", "file_system.kms_key_arn"),
    ]


_JOBS = "        jobs:\n"


@pytest.mark.parametrize(
    ("cache", "codes"),
    [
        ('{expire_after_days: 1, expire_compilers: {"2.19": 3650}, request_metrics: true}', []),
        ("{expire_after_days: 0}", ["UC6017"]),
        ('{expire_compilers: {"2.19": 3651}}', ["UC6017"]),
        ('{expire_compilers: {"two": 30}}', ["UC6014"]),
        ("{replicate_to: [Melbourne]}", ["UC5110"]),
        ("{on_file_system: true}", []),
        ("{on_file_system: true, expire_after_days: 30}", ["UC6018"]),
        ("{on_file_system: true, request_metrics: true}", ["UC6018"]),
        ("{replicate_to: [melbourne, mumbai], versioned: true}", []),
        ("{replicate_to: [melbourne, melbourne]}", ["UC5140"]),
        ("{on_file_system: true, replicate_to: [melbourne]}", ["UC6018"]),
        ("{on_file_system: true, versioned: true}", ["UC6018"]),
        ("{replicate_to: [data]}\n        checkpoints: {bucket_name: data}", ["UC5142"]),
    ],
)
def test_a_compile_cache_has_the_settings_of_its_place(
    findings: Findings, cache: str, codes: list[str]
) -> None:
    found = findings((_JOBS, f"        compile_cache: {cache}\n{_JOBS}"))
    assert [each.code for each in found] == codes
