"""`compile_cache` of a cluster: storage and expiration of compiled graphs."""

from typing import Annotated

from pydantic import Field

from ultracluster_rules.buckets import COMPILER_VERSION
from ultracluster_stacks.config.models.buckets import BucketName
from ultracluster_stacks.config.models.constraints import Between, constraint
from ultracluster_stacks.config.models.model import ConfigModel

_Days = Annotated[int, Between(code="UC6017", least=1, most=3_650)]
_Version = Annotated[str, constraint(COMPILER_VERSION)]


class CompileCacheConfig(ConfigModel):
    """A bucket for torch-neuronx and JAX, or directories of the file system for TorchNeuron and vLLM."""

    on_file_system: bool = False
    """Whether to use the file system, which TorchNeuron and vLLM require, instead of S3."""

    expire_after_days: _Days | None = None
    """Days after which entries of the bucket expire. Default: never."""

    expire_compilers: dict[_Version, _Days] = Field(default_factory=dict)
    """Days after which entries of retired versions of neuronx-cc expire, such as {"2.19": 30}."""

    versioned: bool = False
    """Whether to keep noncurrent entries for a week, which replication to this bucket requires. Cannot be undone. Default:
    only with `replicate_to`."""

    replicate_to: tuple[BucketName, ...] = ()
    """Buckets of versioned caches in other Regions of the same account to replicate new entries to. Deletions are not
    replicated. Default: none."""

    request_metrics: bool = False
    """Whether S3 counts hits and misses; billed as CloudWatch custom metrics."""
