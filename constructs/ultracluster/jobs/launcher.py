"""The script that starts a node's processes, as the beginning of a container's command."""

from collections.abc import Sequence
from importlib import resources
from typing import Literal

__all__ = ["Launcher", "launch_command"]

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
