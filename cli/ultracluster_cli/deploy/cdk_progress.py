"""Parse the progress of the CDK CLI from its `--progress events` output."""

import re
from collections import deque
from dataclasses import dataclass, field

__all__ = ["DeployedStack", "DeploymentProgress"]

_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_STARTED = re.compile(r"^(?P<stack>\S.*): deploying\.\.\. \[(?P<number>\d+)/(?P<of>\d+)\]$")
_EVENT = re.compile(
    r"^(?P<name>\S+) \| +(?P<done>\d+)(?:/ *(?P<total>\d+))? \| [^|]+ \| (?P<status>[A-Z_]+) +\| "
)
_DEPLOYED = re.compile(r"^\s*✅  (?P<stack>\S.*?)(?P<same> \(no changes\))?$")
_SECONDS = re.compile(r"^✨  (?P<step>Synthesis|Deployment) time: (?P<seconds>[\d.]+)s$")
_FAILED = re.compile(r"_FAILED\b|❌|^\[?Error\b|\bis not authorized\b")
_LAST_LINES = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedStack:
    """A stack that the CDK CLI reported as deployed.

    Attributes:
        name: As the CDK CLI displays it, such as ``TrainingA/Network (TrainingA-Network)``.
        changed: Whether CloudFormation had anything to do.
        seconds: What the CDK CLI measured. None until it says so.
    """

    name: str
    changed: bool
    seconds: float | None = None


@dataclass(kw_only=True, slots=True)
class DeploymentProgress:
    """The progress of a `cdk deploy`, as it reports it.

    Attributes:
        synthesis_seconds: What synthesis took. None until the CDK CLI says so.
        current: Stack that is being deployed. None before, between and after the stacks.
        stacks: How many stacks there are to deploy; 0 until the first one starts.
        resources_done: Events of resources in the current stack.
        resources_total: How many there will be. 0 as long as the CDK CLI does not know.
        deployed: The stacks that are done, in order.
        failures: Lines that tell of a failure, in order.
        last_lines: The last few lines that are not empty, for a failure that none of the above tells of.
    """

    synthesis_seconds: float | None = None
    current: str | None = None
    stacks: int = 0
    resources_done: int = 0
    resources_total: int = 0
    deployed: list[DeployedStack] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))

    def read(self, line: str) -> None:
        """Update the progress from one line of output; other lines change nothing."""
        line = _COLORS.sub("", line)
        if match := _STARTED.match(line):
            self.current, self.stacks = match["stack"], int(match["of"])
            self.resources_done = self.resources_total = 0
        elif match := _DEPLOYED.match(line):
            self.deployed.append(DeployedStack(name=match["stack"], changed=not match["same"]))
            self.current = None
            self.resources_done = self.resources_total = 0
        elif match := _SECONDS.match(line):
            self._record_time(match["step"], float(match["seconds"]))
        elif match := _EVENT.match(line):
            self.resources_done, self.resources_total = int(match["done"]), int(match["total"] or 0)
        if line.strip():
            self.last_lines.append(line.strip())
        if _FAILED.search(line):
            self.failures.append(line.strip())

    def _record_time(self, step: str, seconds: float) -> None:
        if step == "Synthesis":
            self.synthesis_seconds = seconds
        elif self.deployed:
            last = self.deployed[-1]
            self.deployed[-1] = DeployedStack(name=last.name, changed=last.changed, seconds=seconds)
