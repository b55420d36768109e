"""The environments of what we are compared with: made once, below .ultracluster, each package pinned."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["PEERS", "python_of", "set_up"]

PEERS = {
    "troposphere": ["troposphere==4.11.1"],
    "parallelcluster": ["aws-parallelcluster==3.16.1"],
}
"""Python packages of each peer; the CDK for JavaScript has the versions of our own environment."""

_INSTALL = ("pip", "install", "--quiet", "--compile-bytecode")


def python_of(directory: Path, peer: str) -> Path:
    """Return the Python of a peer's environment."""
    return directory / peer / "bin" / "python"


def set_up(directory: Path) -> dict[str, str]:
    """Make the environments that are missing.

    Args:
        directory: Where they are.

    Returns:
        Why a peer cannot be compared with, by its name; empty when all can.
    """
    directory.mkdir(parents=True, exist_ok=True)
    missing = {}
    for peer, packages in PEERS.items():
        environment = directory / peer
        if not _made(environment, packages):
            commands = [
                [_tool("uv"), "venv", "--quiet", "--clear", "--python", sys.executable, str(environment)],
                [_tool("uv"), *_INSTALL, "--python", str(python_of(directory, peer)), *packages],
            ]
            missing |= _make(peer, environment, packages, commands)
    wanted = [f"aws-cdk-lib@{_version('aws-cdk-lib')}", f"constructs@{_version('constructs')}"]
    node = directory / "javascript"
    if not _made(node, wanted):
        node.mkdir(exist_ok=True)
        (node / "package.json").write_text("{}", encoding="utf-8")
        install = [
            _tool("npm"),
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
            str(node),
        ]
        missing |= _make("javascript", node, wanted, [[*install, *wanted]])
    return missing


def _made(environment: Path, packages: list[str]) -> bool:
    stamp = environment / "stamp.json"
    return stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == packages


def _make(peer: str, environment: Path, packages: list[str], commands: list[list[str]]) -> dict[str, str]:
    print(f"Installing {', '.join(packages)} ...", flush=True)
    for command in commands:
        done = subprocess.run(command, text=True, capture_output=True, check=False, env=os.environ)
        if done.returncode:
            shutil.rmtree(environment, ignore_errors=True)
            lines = (done.stderr or done.stdout).strip().splitlines()
            return {peer: lines[-1] if lines else f"{command[0]} ended with code {done.returncode}"}
    (environment / "stamp.json").write_text(json.dumps(packages), encoding="utf-8")
    return {}


def _tool(name: str) -> str:
    return (
        shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
        or name
    )


def _version(package: str) -> str:
    from importlib.metadata import version  # noqa: PLC0415 - beside its one use

    return version(package)
