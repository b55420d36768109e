"""`file_system.metadata_iops` of a rollout."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]

_SIZE = "storage_capacity_gib: 4800"


@pytest.mark.parametrize("iops", [1500, 3000, 6000, 12_000, 192_000])
def test_takes_the_metadata_iops_that_fsx_provisions(findings: Findings, iops: int) -> None:
    assert findings((_SIZE, f"{_SIZE}, metadata_iops: {iops}")) == []


@pytest.mark.parametrize("iops", [0, 1499, 1501, 9000, 18_000, 204_000])
def test_refuses_other_metadata_iops_at_their_place(findings: Findings, iops: int) -> None:
    (finding,) = findings((_SIZE, f"{_SIZE}, metadata_iops: {iops}"))
    assert (finding.code, finding.path) == ("UC5006", "waves[0].clusters[0].file_system.metadata_iops")
    assert f"got {iops}" in finding.problem


def test_leaves_metadata_iops_to_fsx_when_a_file_says_nothing(
    load: Callable[..., LoadedRollout], valid: str
) -> None:
    (cluster,) = load(text=valid).config.waves[0].clusters
    assert cluster.file_system.metadata_iops is None


_PLACE = "waves[0].clusters[0]"
_TIERED = "storage_type: INTELLIGENT_TIERING, link_checkpoints: false"
_KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
_BOTH = f"{_SIZE}, per_unit_storage_throughput: 250"


def _found(findings: Findings, settings: str, *edits: tuple[str, str]) -> list[tuple[str, str]]:
    """Codes and places of what is wrong with a file system of these settings."""
    return [
        (each.code, each.path.removeprefix(f"{_PLACE}."))
        for each in findings((f"{{{_BOTH}}}", f"{{{settings}}}"), *edits)
    ]


@pytest.mark.parametrize(
    "settings",
    [
        "",
        "deployment_type: SCRATCH_2",
        f"{_TIERED}, read_cache: NO_CACHE",
        f"{_TIERED}, throughput_capacity: 8000, read_cache: USER_PROVISIONED, read_cache_gib: 64",
        "link_checkpoints: false, backup_retention_days: 7, backup_start_time: '03:30'",
        "associations: [{file_system_path: /c4, data_repository_path: 's3://corpora/c4/', export_events: []}]",
        f"kms_key_arn: {_KEY}",
    ],
)
def test_takes_what_fsx_takes(findings: Findings, settings: str) -> None:
    assert _found(findings, settings) == []


@pytest.mark.parametrize(
    ("settings", "code", "place"),
    [
        ("deployment_type: SCRATCH_2, per_unit_storage_throughput: 200", "UC5002", "per_unit_storage_throughput"),
        ("deployment_type: SCRATCH_2, backup_retention_days: 1, link_checkpoints: false", "UC5014", "backup_retention_days"),
        (f"deployment_type: SCRATCH_2, kms_key_arn: {_KEY}", "UC5007", "kms_key_arn"),
        (f"{_TIERED}", "UC5013", "read_cache"),
        (f"{_TIERED}, read_cache: NO_CACHE, throughput_capacity: 5000", "UC5012", "throughput_capacity"),
        (f"{_TIERED}, read_cache: NO_CACHE, storage_capacity_gib: 4800", "UC5011", "storage_capacity_gib"),
        ("storage_type: INTELLIGENT_TIERING, read_cache: NO_CACHE", "UC5020", "link_checkpoints"),
        ("backup_retention_days: 7", "UC5014", "backup_retention_days"),
        ("backup_retention_days: 91, link_checkpoints: false", "UC5015", "backup_retention_days"),
        ("efa: true, storage_capacity_gib: 19200", "UC5027", "efa"),
        ("kms_key_arn: alias/fsx", "UC5102", "kms_key_arn"),
        (f"kms_key_arn: {_KEY.replace('us-east-2', 'us-east-1')}", "UC5104", "kms_key_arn"),
    ],
)  # fmt: skip
def test_refuses_what_fsx_refuses_at_its_place(
    findings: Findings, settings: str, code: str, place: str
) -> None:
    assert _found(findings, settings) == [(code, f"file_system.{place}")]


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
        (f"{{{_BOTH}}}", "{efa: true, storage_capacity_gib: 19200}"),
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
        (["data s3://a-bucket"], [("UC5022", "file_system.associations[0].file_system_path")]),
        (["/a s3://Bucket"], [("UC5025", "file_system.associations[0].data_repository_path")]),
        (["/a s3://a-bucket [NEW, NEW]"], [("UC5026", "file_system.associations[0].import_events")]),
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
    assert _found(findings, f"associations: [{', '.join(items)}]") == found


_EXISTING = "file_system_id: fs-0123456789abcdef0, mount_name: abcdefgh"
_KNOWN = f"{_EXISTING}, zone_id: use2-az3, security_group_id: sg-0123456789abcdef0"


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (_KNOWN, []),
        (f"{_KNOWN}, dns_name: fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com", []),
        (_EXISTING, [("UC5032", "file_system_id"), ("UC5033", "file_system_id")]),
        (_KNOWN.replace("use2-az3", "use2-az1"), [("UC5031", "zone_id")]),
        (_KNOWN.replace("mount_name: abcdefgh, ", ""), [("UC5103", "file_system_id")]),
        (f"{_KNOWN}, storage_capacity_gib: 4800", [("UC5103", "storage_capacity_gib")]),
        (f"{_KNOWN}, data_compression: false", [("UC5103", "data_compression")]),
        ("mount_name: abcdefgh", [("UC5103", "mount_name")]),
        (_KNOWN.replace("fs-0", "fs-X"), [("UC5030", "file_system_id")]),
        (_KNOWN.replace("abcdefgh", "abcdefghi"), [("UC5030", "mount_name")]),
    ],
)
def test_a_file_system_is_an_existing_one_or_a_new_one(
    findings: Findings, settings: str, found: list[tuple[str, str]]
) -> None:
    assert _found(findings, settings) == [(code, f"file_system.{name}") for code, name in found]


def test_what_cannot_be_read_hides_no_other_problem(findings: Findings) -> None:
    found = _found(findings, "backup_retention_days: many, kms_key_arn: alias/fsx, efa: true")
    assert sorted(found) == [
        ("UC1022", "file_system.backup_retention_days"),
        ("UC5027", "file_system.efa"),
        ("UC5102", "file_system.kms_key_arn"),
    ]


@pytest.mark.parametrize(
    ("settings", "addresses"),
    [
        ("{}", 128),
        (f"{{{_KNOWN}}}", 0),
        ("{storage_capacity_gib: 360000}", 165),  # 150 object servers and 15 metadata servers
    ],
)
def test_an_existing_subnet_keeps_addresses_for_a_new_file_system_only(
    findings: Findings, settings: str, addresses: int
) -> None:
    def found(free: int) -> list[str]:
        network = f"{{vpc_id: vpc-01234567, subnet_id: subnet-01234567, available_addresses: {free}}}"
        edits = (("{cidr: 10.0.0.0/16}", network), (f"{{{_BOTH}}}", settings))
        return [each.code for each in findings(*edits)]

    assert found(4 * 2 + addresses) == []  # a node and its task take one address each
    assert found(4 * 2 + addresses - 1) == ["UC3002"]
