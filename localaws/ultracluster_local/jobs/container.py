"""A container: a process tree of this machine with an environment, a folder and a log stream of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.logs.models import logs_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.observability.embedded_metrics import extract_metrics

__all__ = ["STOP_SECONDS", "Container", "Ending", "LogStream"]

STOP_SECONDS = 30.0
"""Time between SIGTERM and SIGKILL: ECS_CONTAINER_STOP_TIMEOUT of the ECS agent,
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-config.html."""

_INIT = Path(__file__).parent / "container_init.py"
_LONGEST_LINE = 262_118  # CloudWatch Logs quotas, "Event size", without its overhead
_DRAIN_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class LogStream:
    """Log stream of a container.

    Attributes:
        region: Region.
        group: Log group, which must exist.
        name: Name of the stream. Empty for a container whose log driver is not awslogs: its lines are not kept.
    """

    region: str
    group: str
    name: str

    def create(self) -> None:
        """Create the stream.

        Raises:
            ValueError: If there is no such group.
        """
        groups = logs_backends[ACCOUNT][self.region].groups
        if not self.name:
            return
        if self.group not in groups:
            # The words of awslogs (aws/containers-roadmap#1116).
            raise ValueError(
                "ResourceInitializationError: failed to validate logger args: create stream has been retried 1 times: "
                "failed to create Cloudwatch log stream: ResourceNotFoundException: The specified log group does not exist."
            )
        groups[self.group].create_log_stream(self.name)

    def write(self, lines: Sequence[str]) -> None:
        """Append lines with the time of the local AWS; what a user deleted meanwhile takes no more lines."""
        now = CLOCK.now()
        group = logs_backends[ACCOUNT][self.region].groups.get(self.group)
        if group is not None and self.name in group.streams:
            events = [
                {"timestamp": int(now.timestamp() * 1000), "message": line[:_LONGEST_LINE] or " "}
                for line in lines
            ]
            group.streams[self.name].put_log_events(events)
            # The programs of jobs know the time of this machine only.
            extract_metrics(lines, region=self.region, at=now if CLOCK.stands else None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """End of a container.

    Attributes:
        code: Exit code; None if there was no container.
        reason: Reason in ECS's words; empty if the command ended by itself.
    """

    code: int | None
    reason: str


class Container:
    """A running container.

    Attributes:
        folder: Its working directory.
        environment: All its variables.

    Args:
        command: Program and arguments.
        environment: All environment variables.
        folder: Working directory, which becomes its own.
        log: Log stream, which exists.
        memory_mib: Memory limit.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: LogStream,
        memory_mib: int,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        # Short, because names of Unix sockets below it must be.
        self._temporary = tempfile.mkdtemp(prefix="ucl-", dir="/tmp")
        self.environment = {**environment, "HOME": str(folder), "TMPDIR": self._temporary}
        order = {
            "command": list(command),
            "environment": self.environment,
            "folder": str(folder),
            "memory": memory_mib * 2**20,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_INIT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath},
            start_new_session=True,  # Ctrl-C in a terminal is not for jobs
        )
        self._order(json.dumps(order))
        self._log = log
        self._killed_at: float | None = None
        self._reader = threading.Thread(target=self._follow, name=f"log {log.name}", daemon=True)
        self._reader.start()
        self.began = time.monotonic()

    def _order(self, text: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - for the type checker: it is a pipe
        with suppress(OSError):
            self._process.stdin.write(f"{text}\n".encode())
            self._process.stdin.flush()

    def _follow(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - likewise
        for line in self._process.stdout:
            self._log.write([line.decode(errors="replace").rstrip("\r\n")])

    def stop(self) -> None:
        """Send SIGTERM to the command, and SIGKILL to everything after a time; a second call changes nothing."""
        if self._killed_at is None:
            self._killed_at = time.monotonic() + STOP_SECONDS
            self._order("term")

    def kill(self) -> None:
        """Kill everything at once."""
        self._killed_at = time.monotonic()
        self._order("kill")

    def poll(self) -> Ending | None:
        """Return the end of the container; None while it runs."""
        if self._process.poll() is None:
            if self._killed_at is not None and time.monotonic() >= self._killed_at:
                self._order("kill")
            return None
        # Lines that are still on their way; a process that escaped would hold the pipe open forever.
        self._reader.join(_DRAIN_SECONDS)
        assert self._process.stderr is not None  # noqa: S101 - as above
        assert self._process.stdin is not None  # noqa: S101 - as above
        text = self._process.stderr.read()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]  # it is a pipe
        shutil.rmtree(self._temporary, ignore_errors=True)
        try:
            report: dict[str, Any] = json.loads(text)
        except ValueError:
            report = {"code": 137, "reason": ""}  # its first process was killed
        return Ending(code=report["code"], reason=report["reason"])
