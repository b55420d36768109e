"""The command of a container: the launcher, and the user's command, encoded where a shell would change it."""

from collections.abc import Sequence
from typing import Literal

from aws_cdk import Fn

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_spec.commands import encode_word
from ultracluster_spec.findings import is_token

Launcher = Literal["torchrun", "jax", "raw"]
"""What starts the command on a node: torchrun, JAX's coordination variables, or only basic variables."""


def launch_command(command: Sequence[str], launcher: Launcher = "torchrun") -> list[str]:
    """Prefix a command with its launcher."""
    return ["python3", LAUNCHER_PATH, launcher, *map(_encode, command)]


def _encode(word: str) -> str:
    # CloudFormation encodes values that are known only at deployment.
    return f"base64:{Fn.base64(word)}" if is_token(word) else encode_word(word)
