"""Starts one node's share of a job: its command under torchrun, for JAX, or as it is.

Every node has this file in the folder that every job mounts (node-launcher.sh). The words of a container's command reach it
through an ENTRYPOINT that may run them through a shell, so those that a shell would change are encoded (jobs/launcher.py).
On several nodes the launchers are connected: AWS Batch ends a job only when its main node ends, so the main node ends when
another is lost; and Open MPI starts processes on the others through the same connections, without SSH.
It runs with the Python of the image, 3.8 or newer, and is part of user data, so it is short; comments stay behind.
"""

from __future__ import annotations

import base64
import bz2
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

SET = os.environ.setdefault
NODES = int(SET("AWS_BATCH_JOB_NUM_NODES", "1"))
NODE = int(SET("AWS_BATCH_JOB_NODE_INDEX", "0"))
MAIN = int(SET("AWS_BATCH_JOB_MAIN_NODE_INDEX", "0")) == NODE
JOB = os.environ.get("AWS_BATCH_JOB_ID", "").partition("#")[0]  # each node has its index after a hash sign
LOST_SECONDS = float(SET("UC_LOST_SECONDS", "180"))
# Exit code of a main node whose job lost another node (ultracluster_catalog.names.launcher).
LOST = 112
# Below the ports that Linux gives to outgoing connections, which a container cannot reserve: the rendezvous of torchrun or of
# the Neuron runtime, JAX's coordinator behind it, then that of the launchers.
PORT = int(SET("MASTER_PORT", "28400"))


def say(what: str) -> None:
    """Write to the log of the job."""
    print(f"ultracluster: {what}", file=sys.stderr, flush=True)


def refuse(what: str, code: int = 1) -> NoReturn:
    """Write to the log of the job, and exit."""
    say(what)
    sys.exit(code)


def decode(word: str) -> str:
    """Decode a word that jobs/launcher.py encoded."""
    kind, _, rest = word.partition(":")
    if kind == "base64":
        return base64.b64decode(rest).decode("utf-8", "surrogateescape")
    return bz2.decompress(base64.b64decode(rest)).decode() if kind == "bz2" else word


def main() -> int:
    """Set up the environment, and run the program until it ends."""
    launcher, *words = sys.argv[1:]
    if launcher == "ask":
        print(json.dumps(ask({words[0]: " ".join(words[1:])})))
        return 0
    if launcher == "remote":
        return int(ask({"host": words[0], "run": " ".join(words[1:])})["code"])
    command = [decode(word) for word in words]
    if not command:
        refuse("there is no command to start")
    set_environment(launcher)
    if launcher == "torchrun":
        place = {"nnodes": NODES, "node-rank": NODE, "nproc-per-node": os.environ["UC_PROCESSES_PER_NODE"]}
        place.update({"master-addr": os.environ["MASTER_ADDR"], "master-port": PORT})
        command = [
            "torchrun",
            *(word for name in place for word in (f"--{name}", str(place[name]))),
            *command,
        ]
    say(f"node {NODE} of {NODES}, main node {os.environ['MASTER_ADDR']}:{PORT}")
    with tempfile.TemporaryDirectory(prefix="ultracluster-") as folder:
        return Node().run(command, folder if NODES > 1 and LOST_SECONDS else None)


def set_environment(launcher: str) -> None:
    """Set the environment variables by which programs and libraries find the other nodes."""
    # AWS Batch passes the address of the main node only to the other nodes.
    address = own_address() if MAIN else os.environ.get("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS")
    if not address:
        refuse("AWS Batch gave no address of the main node")
    os.environ["MASTER_ADDR"] = address
    set_interface()
    reserve_ports()
    if "UC_ULTRASERVER_NODES" in os.environ:
        set_ultraserver(int(os.environ["UC_ULTRASERVER_NODES"]))
    if launcher == "torchrun":
        return
    os.environ["NEURON_RT_ROOT_COMM_ID"] = f"{address}:{PORT}"
    if launcher == "jax":
        # One process drives all devices of its node. JAX reads the address of its coordinator by itself; number and index of
        # the processes are for the program's jax.distributed.initialize().
        os.environ["JAX_COORDINATOR_ADDRESS"] = (
            f"{address}:{os.environ.get('JAX_COORDINATOR_PORT', PORT + 1)}"
        )
        os.environ.update(JAX_NUM_PROCESSES=str(NODES), JAX_PROCESS_ID=str(NODE))
        os.environ["NEURON_PJRT_PROCESS_INDEX"] = str(NODE)
        devices = os.environ["UC_DEVICES_PER_NODE"]
        os.environ["NEURON_PJRT_PROCESSES_NUM_DEVICES"] = ",".join([devices] * NODES)
    else:
        os.environ.update(NNODES=str(NODES), NODE_RANK=str(NODE))
        # For programs that start Open MPI, which needs a home.
        os.environ["PATH"] += ":/opt/amazon/efa/bin:/opt/amazon/openmpi/bin:/opt/aws/neuron/bin"
        SET("HOME", tempfile.gettempdir())


def own_address() -> str:
    """Return the address of the interface with the route to others; connecting a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("10.255.255.255", 9))
        return str(probe.getsockname()[0])


def set_interface() -> None:
    """Make collectives and MPI use the interface with the default route.

    A task of AWS Batch also has ecs-eth0, with an address of 169.254.172.0/22 that reaches nothing but its own node.
    """
    with contextlib.suppress(OSError):
        routes = [line.split() for line in Path("/proc/net/route").read_text().splitlines()]
        for interface in [row[0] for row in routes if row[1] == "00000000"][:1]:
            for library in ("CCOM", "NCCL", "GLOO"):
                SET(f"{library}_SOCKET_IFNAME", interface)
            excluded = "OMPI_MCA_btl_tcp_if_exclude"
            if excluded in os.environ:  # Open MPI does not accept both lists
                os.environ[excluded] += ",ecs-eth0"
            else:
                SET("OMPI_MCA_btl_tcp_if_include", interface)
            SET("OMPI_MCA_oob_tcp_if_include", interface)
            SET("PRTE_MCA_prte_if_include", interface)


def reserve_ports() -> None:
    """Reserve ports that the user chose, so that no outgoing connection of the task takes them."""
    kernel = Path(os.environ.get("UC_SYSCTL", "/proc/sys/net/ipv4"))
    with contextlib.suppress(OSError, ValueError):
        low, high = map(int, (kernel / "ip_local_port_range").read_text().split())
        if not (low - 2 <= PORT <= high):
            return
        try:
            (kernel / "ip_local_reserved_ports").write_text(f"{PORT}-{PORT + 2}\n")
        except OSError:
            say(
                f"port {PORT} cannot be reserved, and an outgoing connection may take it; choose one below {low}"
            )


def set_ultraserver(size: int) -> None:
    """Pass the node's position in its UltraServer, which the driver reports, to the Neuron runtime."""
    group = size if NODES % size == 0 else NODES
    # Modes of the runtime: 1 is all four nodes, 2 two in a row, 3 two in a column, 4 one alone.
    modes = {size: "1", 2: "32", 1: "4"}.get(group)
    if modes is None:
        refuse(f"{NODES} nodes are neither one, two nor whole UltraServers of {size}")
    mode, server, place = "4", "0" * 16, "-1"
    driver = Path(os.environ.get("UC_NEURON_CLASS", "/sys/class/neuron_device"))
    try:
        if group > 1:
            offered = (driver / "ultraserver_mode").read_text().replace(",", " ").split()
            mode = next(mode for mode in modes if mode in offered)
            server = (driver / f"server_id_{group}").read_text().strip()
            place = (driver / f"node_id_{group}").read_text().strip()
    except (OSError, StopIteration):
        refuse(f"this node is not joined with {group - 1} others as an UltraServer")
    names = {"MODE": mode, "SERVER_ID": server, "NODE_ID": place}
    os.environ.update({f"NEURON_RT_ULTRASERVER_{name}": value for name, value in names.items()})
    say(f"UltraServer {server}, node {place}, mode {mode}")


class Wire:
    """A socket that carries lines of JSON in both directions."""

    def __init__(self, wire: socket.socket) -> None:
        # Two files, because a write to a file for both directions drops what was read ahead.
        self._in, self._out = wire.makefile("r"), wire.makefile("w")
        self._writing = threading.Lock()

    def send(self, **message: Any) -> bool:
        """Send a message; return whether it was sent."""
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()
            return True
        return False

    def receive(self) -> Iterator[Any]:
        """Yield messages until the other side disconnects or is silent for too long."""
        with contextlib.suppress(OSError, ValueError):
            yield from map(json.loads, self._in)


def ask(question: Mapping[str, str]) -> Mapping[str, Any]:
    """Ask the launcher of this node, and return its answer."""
    with socket.socket(socket.AF_UNIX) as local:
        local.connect(os.environ["UC_MEETING"])
        wire = Wire(local)
        wire.send(**question)
        return next(wire.receive(), {"code": 1})


class Other:
    """A node that is connected to the main node."""

    def __init__(self, host: str, wire: Wire, report: Any) -> None:
        self.host, self.wire, self.report = host, wire, report
        self.code: int | None = None
        self.gone = False


def background(task: Any, *arguments: Any, after: float = 0) -> None:
    """Call a function in a background thread."""
    thread = threading.Timer(after, task, arguments)
    thread.daemon = True
    thread.start()


class Node:
    """The program of this node, and its connections to the other nodes."""

    def __init__(self) -> None:
        self.others: dict[int, Other] = {}
        self.main: Wire | None = None
        self.report: Any = None
        self.asked: dict[int, Wire] = {}
        self.change = threading.Condition()
        self.verdict: int | None = None  # on the main node: its exit code if another node was lost
        self.over: int | None = None  # on another node: exit code of the main node

    def run(self, command: Sequence[str], meeting: str | None) -> int:
        """Run the program to its end, and return the exit code of this node."""
        if meeting:
            self.open(meeting)
            background(self.preside if MAIN else self.attend)
        try:
            with subprocess.Popen(command) as self.program:
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
                    signal.signal(number, lambda number, _: self.program.send_signal(number))
                background(self.watch_for_checkpoint)
                code = self.program.wait()
        except OSError as error:
            say(f"{command[0]} cannot be started: {error.strerror}")
            code = 127
        code = 128 - code if code < 0 else code
        if code and self.others:
            self.wait_for_loss()
        for other in self.others.values():
            other.wire.send(over=code)
        # The main node treats a silent disconnect as a lost node; it may not be listening yet.
        deadline = time.monotonic() + LOST_SECONDS / 6
        while meeting and not MAIN and self.over is None and time.monotonic() < deadline:
            if self.main and self.main.send(end=code):
                break
            time.sleep(0.1)
        return code if self.verdict is None else self.verdict

    def wait_for_loss(self) -> None:
        """Wait until it is known whether the program failed because another node was lost."""
        time.sleep(LOST_SECONDS / 180)
        deadline = time.monotonic() + LOST_SECONDS / 4
        while self.verdict is None and time.monotonic() < deadline:
            if not any(other.gone for other in self.others.values()):
                return
            time.sleep(0.1)

    def preside(self) -> None:
        """Accept connections from the other nodes."""
        try:
            server = socket.create_server(("", PORT + 2), backlog=NODES)
        except OSError as error:
            say(f"a lost node will not be noticed: port {PORT + 2}: {error.strerror}")
            return
        background(self.name_absent, after=5 * LOST_SECONDS)
        while True:
            connection, (host, *_) = server.accept()
            connection.settimeout(LOST_SECONDS)
            background(self.hear, connection, host)

    def name_absent(self) -> None:
        """Log the nodes that have not connected yet; the program decides what their absence means."""
        if absent := ", ".join(str(node) for node in range(NODES) if node not in (NODE, *self.others)):
            say(f"nothing was heard of node {absent} yet")

    def hear(self, connection: socket.socket, host: str) -> None:
        """Follow another node until it ends or is lost."""
        with connection:
            wire = Wire(connection)
            messages = wire.receive()
            hello: Any = next(messages, {})
            node: Any = hello.get("node")
            if hello.get("job") != JOB or node not in range(NODES):
                return  # the connection comes from another job
            other = self.others[node] = Other(host, wire, hello["report"])
            for message in messages:
                if asker := self.asked.pop(message.get("id"), None):
                    asker.send(code=message["code"])
                other.report = message.get("report", other.report)
                other.code = message.get("end", other.code)
                with self.change:
                    self.change.notify_all()
        name = f"node {node} ({host})"
        if other.code:
            say(f"{name} has ended with exit code {other.code}")
            self.end(1, f"{name} has ended {LOST_SECONDS:.0f} s ago", after=LOST_SECONDS)
        elif other.code is None:
            other.gone = True
            time.sleep(LOST_SECONDS / 6)
            if self.others[node] is other:  # the node did not reconnect
                self.end(LOST, f"{name} was lost")

    def end(self, code: int, why: str, after: float = 0) -> None:
        """End the job, which would otherwise wait for a lost node until a collective times out."""
        time.sleep(after)
        if self.verdict is None:
            self.verdict = code
            say(f"{why}; the job ends with exit code {code}")
            self.program.terminate()
            background(self.program.kill, after=LOST_SECONDS / 6)

    def attend(self) -> None:
        """Keep a connection to the main node."""
        background(self.beat)
        heard = time.monotonic()
        while self.over is None:
            with contextlib.suppress(OSError):
                address = (os.environ["MASTER_ADDR"], PORT + 2)
                with socket.create_connection(address, timeout=LOST_SECONDS) as connection:
                    connection.settimeout(None)
                    wire = Wire(connection)
                    wire.send(job=JOB, node=NODE, report=self.report)
                    self.main = wire
                    for message in wire.receive():
                        self.over = message.get("over", self.over)
                        if "run" in message:
                            background(self.start, wire, message)
                    heard = time.monotonic()
            self.main = None
            if time.monotonic() - heard > 5 * LOST_SECONDS:
                self.over = 1
            time.sleep(LOST_SECONDS / 180)
        with self.change:
            self.change.notify_all()

    def beat(self) -> None:
        """Send heartbeats to the main node."""
        while True:
            time.sleep(LOST_SECONDS / 12)
            if self.main:
                self.main.send()

    def start(self, asker: Wire, order: Mapping[str, Any]) -> None:
        """Run a command as a remote shell does, and answer with its exit code."""
        code = subprocess.run(["sh", "-c", order["run"]], stdin=subprocess.DEVNULL, check=False).returncode
        asker.send(id=order.get("id"), code=code)

    def open(self, folder: str) -> None:
        """Open a socket for programs of this node, and configure Open MPI 4 and 5 to use it as their remote shell."""
        os.environ["UC_MEETING"] = f"{folder}/meeting"
        os.environ["UC_ASK"] = f"{sys.executable} {__file__} ask"
        server = socket.socket(socket.AF_UNIX)
        server.bind(f"{folder}/meeting")
        server.listen()
        agent = Path(folder, "agent")
        agent.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} remote "$@"\n')
        agent.chmod(0o700)
        for prefix, shell in (("OMPI", "rsh"), ("PRTE", "ssh")):
            SET(f"{prefix}_MCA_plm_{shell}_agent", str(agent))
            SET(f"{prefix}_MCA_plm_{shell}_no_tree_spawn", "1")
            SET(f"{prefix}_ALLOW_RUN_AS_ROOT", "1")
            SET(f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        background(self.listen, server)

    def listen(self, server: socket.socket) -> None:
        """Answer requests from programs of this node."""
        number = 0
        while True:
            wire = Wire(server.accept()[0])
            number += 1
            background(self.answer, wire, number)

    def answer(self, wire: Wire, number: int) -> None:
        """Answer one request from a program."""
        question: Any = next(wire.receive(), {})
        if "run" in question:
            host = question["host"].rpartition("@")[2]
            with contextlib.suppress(OSError):
                host = socket.gethostbyname(host)
            other = next((each for each in self.others.values() if each.host == host), None)
            if other:
                self.asked[number] = wire
                other.wire.send(id=number, run=question["run"])
            elif host == os.environ["MASTER_ADDR"] or host.startswith("127."):
                self.start(wire, question)
            else:
                say(f"nothing is started on {question['host']}, which is no node of this job")
                wire.send(code=255)
        elif "nodes" in question:
            # Waits for the reports of all other nodes.
            with self.change:
                self.change.wait_for(self.all_reported, float(question["nodes"]))
            rows = {str(node): [other.host, other.report] for node, other in self.others.items()}
            wire.send(nodes=rows)
        elif "report" in question:
            self.report = question["report"]
            if self.main:
                self.main.send(report=self.report)
            with self.change:
                self.change.wait_for(lambda: self.over is not None)
            wire.send(code=self.over)

    def all_reported(self) -> bool:
        """Whether every other node has sent its report."""
        return sum(other.report is not None for other in self.others.values()) == NODES - 1

    def watch_for_checkpoint(self) -> None:
        """Send SIGUSR1 to the processes that handle it, once for each announced end of the node."""
        notice = Path(os.environ.get("UC_CHECKPOINT_FILE", "/run/ultracluster/checkpoint"))
        pause = float(os.environ.get("UC_CHECKPOINT_POLL_SECONDS", "5"))
        told: set[tuple[str, int]] = set()
        said = ""
        while notice.parent.is_dir():
            with contextlib.suppress(OSError):
                until = notice.read_text().strip()
                # A time in the past belongs to an earlier end, before an extension.
                if until > time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()):
                    new = {(until, pid) for pid in handlers_below(self.program.pid)} - told
                    for _, pid in new:
                        with contextlib.suppress(OSError):
                            os.kill(pid, signal.SIGUSR1)
                    told |= new
                    if new or until != said:
                        say(
                            f"sent SIGUSR1 to {len(new)} processes that handle it: the node ends after {until}"
                        )
                        said = until
            time.sleep(pause)


def handlers_below(root: int) -> list[int]:
    """Return the process and its descendants that handle SIGUSR1, which would kill any other process.

    Below a process that does, what it has started (data loaders, compilers) only inherited the handler, and is left alone.
    """
    parents, handles = {}, set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            pid = int(status.parent.name)
            parents[pid] = int(fields["PPid"])
            if int(fields["SigCgt"], 16) & 1 << signal.SIGUSR1 - 1:
                handles.add(pid)
    found = []
    for pid in handles:
        ancestor = pid
        while ancestor != root and ancestor in parents and (ancestor == pid or ancestor not in handles):
            ancestor = parents[ancestor]
        if ancestor == root and (pid == root or root not in handles):
            found.append(pid)
    return found


if __name__ == "__main__":
    sys.exit(main())
