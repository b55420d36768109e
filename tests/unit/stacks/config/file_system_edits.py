"""What is found in the valid rollout with another file system."""

from collections.abc import Callable

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
SIZE = "storage_capacity_gib: 4800"
CLUSTER_PATH = "waves[0].clusters[0]"
BOTH_SIZES = f"{SIZE}, per_unit_storage_throughput: 250"
EXISTING = "file_system_id: fs-0123456789abcdef0, mount_name: abcdefgh"
KNOWN = f"{EXISTING}, zone_id: use2-az3, security_group_id: sg-0123456789abcdef0"


def file_system_findings(findings: Findings, settings: str, *edits: tuple[str, str]) -> list[tuple[str, str]]:
    """Codes and places of what is wrong with a file system of these settings."""
    return [
        (each.code, each.path.removeprefix(f"{CLUSTER_PATH}."))
        for each in findings((f"{{{BOTH_SIZES}}}", f"{{{settings}}}"), *edits)
    ]
