"""The script that starts the processes of a node, as the beginning of a container command."""

from collections.abc import Sequence
from importlib import resources
from typing import Literal, get_args

from ultracluster_rules.findings import Finding, quote

__all__ = ["Launcher", "check_launcher", "launch_command"]

Launcher = Literal["torchrun", "jax", "raw"]
"""What starts the command on a node: torchrun, JAX's coordination variables, or only basic variables."""


def launch_command(
    command: Sequence[str], launcher: Launcher = "torchrun", *, ultraserver: bool = False
) -> list[str]:
    """Prefix a command with its launcher.

    Args:
        command: Program and arguments.
        launcher: Launcher. Default: torchrun.
        ultraserver: Whether to pass the position of each node in its UltraServer to the Neuron runtime. Default: False.
    """
    scripts = resources.files("ultracluster").joinpath("scripts")
    script = "".join(
        scripts.joinpath(name).read_text(encoding="ascii")
        for name in ("launch.sh", *(["ultraserver.sh"] if ultraserver else []), f"start-{launcher}.sh")
    )
    return ["bash", "-c", script, "ultracluster-launch", *command]


def check_launcher(launcher: str, processes_per_node: int | None, command: Sequence[str]) -> list[Finding]:
    """Check that a launcher can start a command.

    Args:
        launcher: Launcher.
        processes_per_node: Processes per node; None for the default.
        command: Program and arguments.
    """
    if launcher not in get_args(Launcher):
        launchers = ", ".join(get_args(Launcher))
        return [Finding(code="UC6141", problem=f"got {quote(launcher)}", allowed=launchers, path="launcher")]
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
