"""`compile_cache` of a cluster: where compiled graphs are kept, and for how long."""

from typing import Annotated

from pydantic import Field

from ultracluster_rules.buckets import COMPILER_VERSION
from ultracluster_stacks.config.models.buckets import BucketName
from ultracluster_stacks.config.models.constraints import Between, constraint
from ultracluster_stacks.config.models.model import ConfigModel

__all__ = ["CompileCacheConfig"]

_Days = Annotated[int, Between(code="UC6017", least=1, most=3_650)]
_Version = Annotated[str, constraint(COMPILER_VERSION)]


class CompileCacheConfig(ConfigModel):
    """A bucket for torch-neuronx and JAX, or folders of the file system for TorchNeuron and vLLM."""

    on_file_system: bool = Field(
        default=False,
        description="Whether it is on the file system, which TorchNeuron and vLLM need; they cannot read S3.",
    )
    expire_after_days: _Days | None = Field(
        default=None, description="Days after which an entry of the bucket is removed. Default: never."
    )
    expire_compilers: dict[_Version, _Days] = Field(
        default_factory=dict,
        description='The same for single versions of neuronx-cc that nobody runs any more, such as {"2.19": 30}.',
    )
    versioned: bool = Field(
        default=False,
        description="Whether the bucket keeps replaced entries for a week, which it needs to take copies of a cache in "
        "another Region. Cannot be taken back. Default: only with `replicate_to`.",
    )
    replicate_to: tuple[BucketName, ...] = Field(
        default=(),
        description="Buckets of versioned caches in other Regions of the same account that S3 copies each new entry to. "
        "What is removed here stays there. Default: none.",
    )
    request_metrics: bool = Field(
        default=False,
        description="Whether S3 counts hits and misses; costs what custom metrics of CloudWatch cost.",
    )
