"""Parse the progress of the CDK CLI from its `--progress events` output."""

import re
from collections import deque
from dataclasses import dataclass, field

_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_STARTED = re.compile(r"^(?P<stack>\S.*): deploying\.\.\. \[(?P<number>\d+)/(?P<of>\d+)\]$")
_EVENT = re.compile(
    r"^(?P<name>\S+) \| +(?P<done>\d+)(?:/ *(?P<total>\d+))? \| [^|]+ \| (?P<status>[A-Z_]+) +\| "
)
_DEPLOYED = re.compile(r"^\s*✅  (?P<stack>\S.*?)(?P<same> \(no changes\))?$")
_SECONDS = re.compile(r"^✨  Deployment time: (?P<seconds>[\d.]+)s$")
_FAILED = re.compile(r"_FAILED\b|❌|^\[?Error\b|\bis not authorized\b")
_LAST_LINES = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedStack:
    """A stack that the CDK CLI reported as deployed.

    Attributes:
        name: Display name in the CDK CLI, such as ``TrainingA/Network (TrainingA-Network)``.
        seconds: Deployment time reported by the CDK CLI. None until reported.
    """

    name: str
    changed: bool
    seconds: float | None = None


@dataclass(kw_only=True, slots=True)
class DeploymentProgress:
    """The reported progress of `cdk deploy`.

    Attributes:
        current: Stack being deployed. None between stacks.
        stacks: Number of stacks to deploy. 0 until the first starts.
        resources_done: Finished resources of the current stack.
        resources_total: Total resources of the current stack. 0 while unknown.
        last_lines: Last non-empty output lines, shown when a failure has no line of its own.
    """

    current: str | None = None
    stacks: int = 0
    resources_done: int = 0
    resources_total: int = 0
    deployed: list[DeployedStack] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))

    def read(self, line: str) -> None:
        """Update the progress from one line of output."""
        line = _COLORS.sub("", line)
        if match := _STARTED.match(line):
            self.current, self.stacks = match["stack"], int(match["of"])
            self.resources_done = self.resources_total = 0
        elif match := _DEPLOYED.match(line):
            self.deployed.append(DeployedStack(name=match["stack"], changed=not match["same"]))
            self.current = None
            self.resources_done = self.resources_total = 0
        elif match := _SECONDS.match(line):
            self._record_time(float(match["seconds"]))
        elif match := _EVENT.match(line):
            self.resources_done, self.resources_total = int(match["done"]), int(match["total"] or 0)
        if line.strip():
            self.last_lines.append(line.strip())
        if _FAILED.search(line):
            self.failures.append(line.strip())

    def _record_time(self, seconds: float) -> None:
        if self.deployed:
            last = self.deployed[-1]
            self.deployed[-1] = DeployedStack(name=last.name, changed=last.changed, seconds=seconds)
