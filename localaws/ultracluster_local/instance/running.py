"""The local AWS of this process: at most one, because moto keeps its state in modules."""

from dataclasses import dataclass
from pathlib import Path

from ultracluster_local.instance.clients import Clients

__all__ = ["Running", "is_running", "running", "set_running"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """Shared parts of a running local AWS.

    Attributes:
        clients: Clients of its own endpoint.
        directory: Directory of its files.
        evaluates_policies: Whether functions, assumed roles and users may call only what their policies allow.
    """

    clients: Clients
    directory: Path
    evaluates_policies: bool = False


_RUNNING: list[Running] = []


def running() -> Running:
    """Return the local AWS of this process.

    Raises:
        RuntimeError: If none is running.
    """
    if not _RUNNING:
        raise RuntimeError("no local AWS is running in this process")
    return _RUNNING[0]


def set_running(value: Running | None) -> None:
    """Register the running local AWS; None for none."""
    _RUNNING[:] = [] if value is None else [value]


def is_running() -> bool:
    """Return whether a local AWS is running in this process."""
    return bool(_RUNNING)
