"""The local AWS that runs in this process: at most one, since moto keeps its state in modules."""

from dataclasses import dataclass
from pathlib import Path

from ultracluster_local.instance.clients import Clients

__all__ = ["Running", "is_running", "running", "set_running"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """What the parts of a running local AWS share.

    Attributes:
        clients: Clients to its own endpoint.
        directory: Where all its files are.
    """

    clients: Clients
    directory: Path


_RUNNING: list[Running] = []


def running() -> Running:
    """Return the local AWS of this process.

    Raises:
        RuntimeError: If none runs.
    """
    if not _RUNNING:
        raise RuntimeError("no local AWS runs in this process")
    return _RUNNING[0]


def set_running(value: Running | None) -> None:
    """Say which local AWS runs from now on; None for none."""
    _RUNNING[:] = [] if value is None else [value]


def is_running() -> bool:
    """Whether a local AWS runs in this process."""
    return bool(_RUNNING)
