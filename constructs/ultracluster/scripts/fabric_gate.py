"""Refuses a fabric on which training would hang, or crawl over TCP without a word.

launch.sh starts it on every node of a job. Each node counts its EFA interfaces, as libfabric sees them, and reports to the
main node. Only the main node's failure fails a job of AWS Batch, so it decides for all. Then it runs nccom-test over all
nodes, whose MPI wants a remote shell: the other nodes start for it what it sends over the connection of their report.
"""

import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

TOOLS = "/opt/amazon/efa/bin:/opt/aws/neuron/bin"
# 1 KiB tells latency, 1 GiB bandwidth; 1 MiB is between them.
SIZES = ["--minbytes", "1024", "--maxbytes", "1073741824", "--stepfactor", "1024"]
ROW = re.compile(r"^\s*(\d+)\s+(\d+)\s+(\w+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$", re.MULTILINE)
AGENT = """#!{python}
import json, socket, sys
gate = socket.socket(socket.AF_UNIX)
gate.connect({path!r})
with gate.makefile("rw") as lines:
    lines.write(json.dumps({{"host": sys.argv[1], "run": " ".join(sys.argv[2:])}}) + "\\n")
    lines.flush()
    sys.exit(json.loads(lines.readline())["code"])
"""


class Row(NamedTuple):
    """A line of nccom-test's table; its GB/s are GiB/s by its documentation."""

    size: int
    microseconds: float
    bus_bandwidth: float


class Refused(Exception):  # noqa: N818 - an outcome, not an error of this program
    """Why the fabric is not fit for training."""


class Connection:
    """Lines of JSON, both ways."""

    def __init__(self, wire: socket.socket) -> None:
        # Two files: in one for both ways, a write drops what was read ahead.
        self._incoming, self._outgoing = wire.makefile("r"), wire.makefile("w")
        self._writing = threading.Lock()

    def send(self, **message: Any) -> None:
        """Send a message."""
        with self._writing:
            self._outgoing.write(json.dumps(message) + "\n")
            self._outgoing.flush()

    def receive(self) -> Iterator[dict[str, Any]]:
        """Give the messages until the other side is gone."""
        yield from map(json.loads, self._incoming)


class Other(NamedTuple):
    """A node that has reported to the main node."""

    node: int
    host: str
    connection: Connection


def main() -> int:
    """Check this node and, on the main node, decide for all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--efa-interfaces", type=int, required=True)
    parser.add_argument("--ranks-per-node", type=int, required=True, help="0: count the interfaces only")
    parser.add_argument("--least-bandwidth", type=float, default=0.0, help="GiB/s at 1 GiB")
    parser.add_argument("--most-latency", type=float, default=float("inf"), help="microseconds at 1 KiB")
    parser.add_argument(
        "--patience", type=float, default=900.0, help="seconds, for the nodes and for nccom-test"
    )
    wanted = parser.parse_args()
    os.environ["PATH"] = f"{os.environ['PATH']}:{TOOLS}"
    os.environ.setdefault("HOME", tempfile.gettempdir())  # without one, Open MPI does not start
    node, nodes = int(os.environ["NODE_RANK"]), int(os.environ["NNODES"])
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]) + 2
    problem = efa_problem(wanted.efa_interfaces)
    if problem:
        say(f"node {node}: {problem}")
    if node:
        return obey(address, port, node=node, problem=problem, patience=wanted.patience)
    try:
        decide(wanted, nodes=nodes, address=address, port=port, problem=problem)
    except Refused as refused:
        say(f"refused: {refused}")
        return 1
    say("passed")
    return 0


def efa_problem(expected: int) -> str | None:
    """Say what is wrong with this node's EFA interfaces."""
    try:
        asked = run(["fi_info", "-p", "efa", "-t", "FI_EP_RDM"], seconds=60)
    except FileNotFoundError:
        return "the image has no fi_info, so it has no libfabric for EFA"
    except subprocess.TimeoutExpired:
        return "fi_info hangs"
    providers = set(re.findall(r"^provider: *(.+)$", asked, re.MULTILINE))
    if providers - {"efa"}:
        return f"libfabric offers {', '.join(sorted(providers))} where only efa was asked for"
    # A device is listed once for each fabric it is in, such as efa and efa-direct, with the same domain.
    found = len(set(re.findall(r"^ *domain: *(.+)$", asked, re.MULTILINE))) if providers else 0
    if found != expected:
        return f"libfabric sees {found} EFA interfaces of {expected}; training would go over TCP, or hang"
    return None


def decide(wanted: argparse.Namespace, *, nodes: int, address: str, port: int, problem: str | None) -> None:
    """Gather the reports of all nodes, measure, and let everybody go."""
    with socket.create_server(("", port), backlog=nodes) as server:
        others: list[Other] = []
        problems = [f"node 0: {problem}"] if problem else []
        try:
            problems += gather(server, others, nodes=nodes, patience=wanted.patience)
            if problems:
                raise Refused("; ".join(problems))
            if wanted.ranks_per_node:
                measure(wanted, address=address, others=sorted(others))
        finally:
            for other in others:
                with contextlib.suppress(OSError):  # gone already
                    other.connection.send(end=True)


def gather(server: socket.socket, others: list[Other], *, nodes: int, patience: float) -> list[str]:
    """Wait until every other node has reported; give what they complain of."""
    problems, missing = [], set(range(1, nodes))
    deadline = time.monotonic() + patience
    while missing:
        server.settimeout(max(deadline - time.monotonic(), 0.01))
        try:
            wire, (host, *_) = server.accept()
            wire.settimeout(max(deadline - time.monotonic(), 0.01))
            connection = Connection(wire)
            report = next(connection.receive(), {})
        except OSError:
            names = ", ".join(map(str, sorted(missing)))
            problems.append(f"nothing was heard of node {names} in {patience:.0f} s")
            break
        if report.get("job") != job_id() or report["node"] not in missing:
            continue  # a node of another job, or of an attempt before this one
        wire.settimeout(None)
        missing.remove(report["node"])
        others.append(Other(report["node"], host, connection))
        if report["problem"]:
            problems.append(f"node {report['node']} ({host}): {report['problem']}")
    return problems


def obey(address: str, port: int, *, node: int, problem: str | None, patience: float) -> int:
    """Report to the main node, start what it sends, and end when it says so."""
    deadline = time.monotonic() + patience
    while True:
        try:
            wire = socket.create_connection((address, port), timeout=5)
            break
        except OSError:
            if time.monotonic() > deadline:
                say(f"node {node}: nothing was heard of the main node in {patience:.0f} s")
                return 1
            time.sleep(0.2)
    wire.settimeout(None)
    main_node = Connection(wire)
    main_node.send(job=job_id(), node=node, problem=problem)

    for order in main_node.receive():
        if order.get("end"):
            return 0
        threading.Thread(target=start, args=[main_node, order], daemon=True).start()
    say(f"node {node}: the main node is gone")
    return 1


def start(asker: Connection, order: dict[str, Any]) -> None:
    """Run a command as a remote shell does, and answer with its exit code."""
    code = subprocess.run(["sh", "-c", order["run"]], stdin=subprocess.DEVNULL, check=False).returncode
    asker.send(id=order.get("id"), code=code)


def measure(wanted: argparse.Namespace, *, address: str, others: list[Other]) -> None:
    """Run nccom-test over all nodes, and hold what it measured against the floors."""
    hosts = [address, *(other.host for other in others)]
    ranks = wanted.ranks_per_node * len(hosts)
    command = ["nccom-test", "-r", str(ranks), "-N", str(len(hosts)), *SIZES, "-d", "fp32", "allr"]
    command += ["--non-interactive"]
    if others:
        command += ["--hosts", *hosts]
    with tempfile.TemporaryDirectory() as folder:
        agent = Path(folder, "agent")
        agent.write_text(AGENT.format(python=sys.executable, path=f"{folder}/gate"))
        agent.chmod(0o700)
        serve_agent(f"{folder}/gate", others)
        try:
            said = run(command, seconds=wanted.patience, variables=remote_shell(str(agent)))
        except FileNotFoundError:
            raise Refused("the image has no nccom-test (package aws-neuronx-tools)") from None
        except subprocess.TimeoutExpired:
            raise Refused(f"nccom-test hung for {wanted.patience:.0f} s") from None
    say(said)
    judge(wanted, [Row(int(size), float(time), float(bus)) for size, _, _, time, _, bus in ROW.findall(said)])


def judge(wanted: argparse.Namespace, rows: list[Row]) -> None:
    """Hold the rows of nccom-test against the floors."""
    if len(rows) != 3:  # noqa: PLR2004 - SIZES
        raise Refused("nccom-test failed; its output is above")
    smallest, *_, largest = sorted(rows)
    found = f"{largest.bus_bandwidth} GiB/s at 1 GiB, {smallest.microseconds} us at 1 KiB"
    if largest.bus_bandwidth < wanted.least_bandwidth:
        raise Refused(f"{found}; {wanted.least_bandwidth} GiB/s are the least")
    if smallest.microseconds > wanted.most_latency:
        raise Refused(f"{found}; {wanted.most_latency} us are the most")
    say(f"measured {found}")


def serve_agent(path: str, others: list[Other]) -> None:
    """Pass on what MPI's agent is asked to start, and the exit codes back."""
    connections = {other.host: other.connection for other in others}
    answers: dict[int, Connection] = {}

    def answer(other: Connection) -> None:
        for message in other.receive():
            answers.pop(message["id"]).send(code=message["code"])

    def accept(server: socket.socket) -> None:
        with server:
            for number in range(sys.maxsize):
                asker = Connection(server.accept()[0])
                order = next(asker.receive())
                if order["host"] in connections:
                    answers[number] = asker
                    connections[order["host"]].send(id=number, run=order["run"])
                else:  # this node itself, when MPI does not know its own address
                    threading.Thread(target=start, args=[asker, order], daemon=True).start()

    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    for connection in connections.values():
        threading.Thread(target=answer, args=[connection], daemon=True).start()
    threading.Thread(target=accept, args=[server], daemon=True).start()


def remote_shell(agent: str) -> dict[str, str]:
    """Settings that make Open MPI 4 and 5 use the agent, for every node from here, in a container's root."""
    return {
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def run(command: list[str], *, seconds: float, variables: dict[str, str] | None = None) -> str:
    """Run a program; what it says counts, since fi_info fails when it finds nothing and nccom-test may not."""
    return subprocess.run(
        command,
        env=os.environ | (variables or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    ).stdout


def job_id() -> str:
    """The id of the job as all its nodes know it: each has its own index behind a hash sign."""
    return os.environ.get("AWS_BATCH_JOB_ID", "").partition("#")[0]


def say(what: str) -> None:
    """Write to the log of the job."""
    print(f"ultracluster: fabric gate: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
