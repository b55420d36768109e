"""`file_system` of a cluster: its FSx for Lustre file system."""

from typing import Annotated

from pydantic import Field

from ultracluster_stacks.config.field_rules import Between
from ultracluster_stacks.config.model import ConfigModel

__all__ = ["FileSystemConfig"]


class FileSystemConfig(ConfigModel):
    """An FSx for Lustre file system of deployment type PERSISTENT_2 on SSD."""

    storage_capacity_gib: Annotated[int, Between(code="UC5101", least=1_200, most=100_000_000)] = Field(
        default=4_800,
        description="Size in GiB: 1,200, 2,400 or a multiple of 2,400. It can grow later, not shrink.",
    )
    per_unit_storage_throughput: int = Field(
        default=250, description="Throughput in MB/s per TiB of storage: 125, 250, 500 or 1,000."
    )
    metadata_iops: int | None = Field(
        default=None,
        description="Metadata operations per second: 1,500, 3,000, 6,000 or a multiple of 12,000 up to 192,000. "
        "They can grow later, not shrink. Default: left to FSx, by the size.",
    )
    data_compression: bool = Field(
        default=True, description="Whether data is compressed with LZ4 when it is written."
    )
