"""Settings of running jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["JobSettings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class JobSettings:
    """How jobs run on this machine.

    Attributes:
        images: Folder with the programs of a container image, such as the ``bin`` folder of a virtual environment, by the
            image without its tag. Default: none. AWS's Neuron images run on the Python of this process.
        memory_mib: Memory that a container may use, in MiB, however much its job definition requires. Default: 4096.
        seconds: Time that a container may run, in seconds of this machine. Default: an hour.
        containers: Containers that run at once. Default: 64.
    """

    images: Mapping[str, Path] = field(default_factory=dict)
    memory_mib: int = 4096
    seconds: float = 3600
    containers: int = 64
