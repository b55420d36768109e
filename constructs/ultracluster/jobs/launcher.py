"""The script that starts a node's processes, as the beginning of a container's command."""

from collections.abc import Sequence
from importlib import resources
from typing import Literal, get_args

from ultracluster_rules.findings import Finding, quote

__all__ = ["Launcher", "check_launcher", "launch_command"]

Launcher = Literal["torchrun", "jax", "raw"]
"""What starts the command on a node: torchrun, or nothing but what JAX or another program must know of its place."""


def launch_command(
    command: Sequence[str], launcher: Launcher = "torchrun", *, ultraserver: bool = False
) -> list[str]:
    """Put the launcher in front of what it starts.

    Args:
        command: Program and arguments.
        launcher: What starts them. Default: torchrun.
        ultraserver: Whether the Neuron runtime is told the place of each node in its UltraServer. Default: it is
            not.
    """
    scripts = resources.files("ultracluster").joinpath("scripts")
    script = "".join(
        scripts.joinpath(name).read_text(encoding="ascii")
        for name in ("launch.sh", *(["ultraserver.sh"] if ultraserver else []), f"start-{launcher}.sh")
    )
    return ["bash", "-c", script, "ultracluster-launch", *command]


def check_launcher(launcher: str, processes_per_node: int | None, command: Sequence[str]) -> list[Finding]:
    """Find what keeps a launcher from starting a command.

    Args:
        launcher: What starts it.
        processes_per_node: Processes that were asked for; None for the default.
        command: Program and arguments.
    """
    if launcher not in get_args(Launcher):
        known = ", ".join(get_args(Launcher))
        return [Finding(code="UC6141", problem=f"got {quote(launcher)}", allowed=known, path="launcher")]
    findings = []
    if not command:
        findings.append(
            Finding(
                code="UC6142",
                problem="got no command; that of the image cannot be seen from here",
                remedy='Say what the launcher starts, such as ["train.py"]',
                path="command",
            )
        )
    if launcher != "torchrun" and processes_per_node not in {None, 1}:
        findings.append(
            Finding(
                code="UC6140",
                problem=f"got {quote(processes_per_node)} processes on a node with the launcher {launcher}, which starts one",
                remedy="Leave it out, or choose torchrun",
                path="processes_per_node",
            )
        )
    return findings
