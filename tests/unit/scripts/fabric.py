"""Runs the fabric gate as its job starts it, on nodes of this machine, with fakes for fi_info and nccom-test."""

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import NamedTuple

from ultracluster._foundation.script import lean_script
from ultracluster_spec.commands import encode_word

__all__ = ["Outcome", "gate", "prepare"]

HERE = Path(__file__).parent
SCRIPTS = HERE.parents[2] / "constructs/ultracluster/scripts"
GATE = lean_script("fabric_gate.py")
# Every node of AWS Batch has an address of its own; on one machine a connection must be told which to come from.
ADDRESSES = """
import os, socket
connect = socket.create_connection
socket.create_connection = lambda to, timeout: connect(to, timeout=timeout, source_address=(os.environ["OWN"], 0))
"""


class Outcome(NamedTuple):
    """What became of a gate: exit codes by node, the main node's log, and what nccom-test was asked."""

    codes: list[int]
    log: str
    asked: str
    measured: list[str]


def prepare(folder: Path) -> Path:
    """Put the fakes into a folder, and what gives nodes their addresses."""
    (folder / "sitecustomize.py").write_text(ADDRESSES)
    shutil.copytree(HERE / "fakes", folder / "fakes")
    return folder


def gate(
    folder: Path, *options: str, nodes: int = 2, absent: int | None = None, **special: dict[str, str]
) -> Outcome:
    """Run the gate; `special` are variables of one node, by `node0`, `node1`..."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1] - 2
    common = {
        "PATH": f"{folder / 'fakes'}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "RUN_FOLDER": str(folder),
        "MASTER_PORT": str(port),
        "AWS_BATCH_JOB_NUM_NODES": str(nodes),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        "UC_LOST_SECONDS": "3",
    }
    command = ["python3", "-c", GATE, "efa=4", "ranks=64", "group=2", "patience=20", *options]
    running = {}
    for index in sorted(set(range(nodes)) - {absent}):
        own = {"AWS_BATCH_JOB_NODE_INDEX": str(index), "AWS_BATCH_JOB_ID": f"job-1#{index}"}
        if index:
            own |= {
                "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "127.0.0.2",
                "OWN": f"127.0.0.{index + 2}",
            }
        running[index] = subprocess.Popen(
            ["python3", str(SCRIPTS / "launch.py"), "raw", *map(encode_word, command)],
            env=common | own | special.get(f"node{index}", {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
    logs = {index: node.communicate(timeout=30)[1] for index, node in running.items()}
    asked, bench = folder / "nccom-arguments", folder / "bench"
    return Outcome(
        [node.returncode for node in running.values()],
        logs[0],
        asked.read_text() if asked.exists() else "",
        sorted(bench.read_text().split()) if bench.exists() else [],
    )
