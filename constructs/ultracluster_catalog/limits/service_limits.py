"""Limits of AWS services that growing clusters reach, with scope, source and date.

Limits of Capacity Blocks, queues and Lustre are defined in the modules of their subject and collected here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_REGIONS_DATED,
    MAX_INSTANCES_ACROSS_BLOCKS,
    MAX_INSTANCES_PER_BLOCK,
)
from ultracluster_catalog.limits.queues import MOST_NODES
from ultracluster_catalog.lustre.lustre_figures import EFA_CONNECTIONS_PER_FILE_SYSTEM


class LimitScope(StrEnum):
    """Scope of a limit."""

    BLOCK = "Capacity Block"
    JOB = "job"
    CLUSTER = "cluster"
    ZONE = "account and zone"
    REGION = "account and Region"
    ORGANIZATION = "account, and per organization on any date"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceLimit:
    """One limit, in a new account where it is adjustable, which is None where AWS does not document it."""

    name: str
    value: int
    scope: LimitScope
    adjustable: bool | None
    source: str
    dated: date
    quota_code: str = ""


_READ: Final = date(2026, 9, 1)  # pages of AWS's guides, crawled on this day or up to two months later

TEMPLATE_RESOURCES: Final = 500
"""Resources of one CloudFormation template (CloudFormation User Guide, quotas, read 2026-09)."""

TEMPLATE_OUTPUTS: Final = 200
"""Outputs of one template; an export to another stack is one of them (same page)."""

TEMPLATE_SIZE_BYTES: Final = 1_000_000
"""Size in bytes of a template in S3, where the CDK uploads it. The same page says 1 MB; the smaller reading is used."""

RUN_INSTANCES_REFILL_PER_SECOND: Final = 2
"""Instances per second that can be launched when the bucket of `run-instances` is empty.

Source: EC2 Developer Guide, request throttling, read 2026-11-21. Launches by Auto Scaling count against the account. We
assume the same for AWS Batch, which launches through Auto Scaling; it is not documented.
"""


_BLOCKS: Final = "EC2 User Guide, Capacity Blocks for ML"
_BATCH: Final = "AWS Batch User Guide, service quotas: table of quotas that cannot be changed"
_MULTI_NODE: Final = "AWS Batch User Guide, multi-node parallel jobs"
_LUSTRE: Final = "FSx for Lustre User Guide, quotas"
_VPC: Final = "Amazon VPC User Guide, quotas"
_STACKS: Final = "CloudFormation User Guide, quotas"

_THROTTLING: Final = "EC2 Developer Guide, request throttling: resource tokens of RunInstances"
_EFA: Final = "FSx for Lustre User Guide, EFA-enabled file systems"
_READ_ON: Final = {_BLOCKS: BLOCK_REGIONS_DATED, _THROTTLING: date(2026, 11, 21)}

# Short name, what is counted, maximum, scope, whether it can be raised, source, code in Service Quotas.
_ROWS: Final = (
    ("block-instances", "instances in one Capacity Block", MAX_INSTANCES_PER_BLOCK, "BLOCK", False, _BLOCKS, ""),
    ("instances-in-blocks", "instances in all Capacity Blocks", MAX_INSTANCES_ACROSS_BLOCKS, "ORGANIZATION", None, _BLOCKS, ""),
    ("job-nodes", "nodes of one multi-node job", MOST_NODES, "JOB", False, _MULTI_NODE, ""),
    ("compute-environments", "compute environments of AWS Batch", 50, "REGION", False, _BATCH, ""),
    ("job-queues", "job queues of AWS Batch", 50, "REGION", False, _BATCH, ""),
    ("submit-job", "SubmitJob requests a second", 50, "REGION", False, _BATCH, ""),
    ("file-systems", "file systems of type PERSISTENT_2", 100, "REGION", True, _LUSTRE, ""),
    ("file-system-storage", "GiB in all file systems of type PERSISTENT_2", 100_800, "REGION", True, _LUSTRE, ""),
    ("efa-connections", "EFA connections of a file system", EFA_CONNECTIONS_PER_FILE_SYSTEM, "CLUSTER", False, _EFA, ""),
    ("vpcs", "VPCs", 5, "REGION", True, _VPC, "L-F678F1CE"),
    ("network-interfaces", "network interfaces, enforced in each zone", 5000, "ZONE", True, _VPC, "L-DF5E4CA3"),
    ("vpc-addresses", "address units (NAU) of a VPC", 64_000, "CLUSTER", True, _VPC, "L-BB24F6E5"),
    ("run-instances", "instances launched at once, then 2 a second", 1000, "REGION", True, _THROTTLING, ""),
    ("stacks", "CloudFormation stacks", 2000, "REGION", True, _STACKS, ""),
)  # fmt: skip

SERVICE_LIMITS: Final[Mapping[str, ServiceLimit]] = MappingProxyType(
    {
        key: ServiceLimit(
            name=name,
            value=value,
            scope=LimitScope[scope],
            adjustable=adjustable,
            source=source,
            dated=_READ_ON.get(source, _READ),
            quota_code=code,
        )
        for key, name, value, scope, adjustable, source, code in _ROWS
    }
)
"""Limits by a short name. Block quotas, which count vCPUs, are in `ultracluster_catalog.limits.quotas`."""
