"""The script that starts the processes of a node, as the beginning of a container command."""

from collections.abc import Sequence
from importlib import resources
from typing import Literal

__all__ = ["Launcher", "launch_command"]

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
