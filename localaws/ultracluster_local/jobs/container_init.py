"""First process of a container: runs its command, and ends with it all that the command has started.

It reads its orders from standard input: a line of JSON, then ``term`` or ``kill``. The end of the input means that the local
AWS is gone, and everything ends. It reports on standard error, since the command has standard output. It needs the
standard library only, and starts in a fortieth of a second.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import typing

_OUT_OF_MEMORY = "OutOfMemoryError: Container killed due to memory usage"
_RUNC = (
    "failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process"
)
_SUBREAPER, _DEATH_SIGNAL = 36, 1  # prctl(2)
_POLL_SECONDS = 0.2
_PAGE = resource.getpagesize()


def descendants() -> "list[int]":
    """Return the processes below this one, by /proc; none on other systems."""
    parents = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208 - pathlib costs start-up time
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:  # noqa: PTH123 - likewise
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue  # it has ended
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def memory() -> int:
    """Return the resident memory of the processes below this one in bytes."""
    total, pids = 0, [os.getpid()]
    for pid in pids:
        try:
            if pid != pids[0]:
                with open(f"/proc/{pid}/statm") as file:  # noqa: PTH123 - as above
                    total += int(file.read().split()[1]) * _PAGE
            # Asked for five times a second: reading all processes, as above, takes a tenth of a core. One that is missed is
            # seen the next time.
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - as above
                with open(f"/proc/{pid}/task/{thread}/children") as file:  # noqa: PTH123 - as above
                    pids += map(int, file.read().split())
        except (OSError, ValueError, IndexError):
            continue
    return total


def kill_all(child: int) -> None:
    """Kill the command and everything below it."""
    deadline = time.monotonic() + 5
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    while time.monotonic() < deadline:
        pids = descendants()
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not pids:
            return
        time.sleep(0.01)


def main() -> int:
    """Run the command of a container."""
    prctl = None
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(_SUBREAPER, 1, 0, 0, 0)  # processes that lose their parent become children of this one
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    orders = os.fdopen(0, "rb", buffering=0)
    order = json.loads(orders.readline())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def prepare() -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if prctl:
            prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)

    try:
        command = subprocess.Popen(
            order["command"],
            env=order["environment"],
            cwd=order["folder"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=prepare,  # noqa: PLW1509 - this process has one thread
        )
    except OSError as error:
        report(*refusal(order["command"][0], error))
        return 0
    reason = follow(command, orders, order["memory"])
    code = command.poll()
    kill_all(command.pid)
    if code is None:
        code = -signal.SIGKILL
    report(128 - code if code < 0 else code, reason)
    return 0


def refusal(program: str, error: OSError) -> "tuple[int, str]":
    """Return the exit code and the words of Docker for a program that cannot be started (nextflow-io/nextflow#5657)."""
    problem = "permission denied"
    if isinstance(error, FileNotFoundError):
        problem = (
            f"stat {program}: no such file or directory"
            if "/" in program
            else "executable file not found in $PATH"
        )
    text = f'CannotStartContainerError: Error response from daemon: {_RUNC}: exec: "{program}": {problem}: unknown'
    return (127 if isinstance(error, FileNotFoundError) else 126), text


def follow(command: "subprocess.Popen[bytes]", orders: "typing.BinaryIO", most: int) -> str:
    """Follow the command to its end or to the order to kill it; return why it was killed."""
    while command.poll() is None:
        readable, _, _ = select.select([orders], [], [], _POLL_SECONDS)
        if readable:
            order = orders.readline()
            if order == b"term\n":
                command.send_signal(signal.SIGTERM)
            else:
                return ""
        if memory() > most:
            return _OUT_OF_MEMORY
    return ""


def report(code: int, reason: str) -> None:
    """Report the end of the command."""
    sys.stderr.write(json.dumps({"code": code, "reason": reason}))


if __name__ == "__main__":
    sys.exit(main())
