"""Run a command, and kill it and everything it started when the parent process is gone.

Started by `child_process` as a separate program: ``python supervisor.py PIPE COMMAND...``. Nothing is ever written to
the pipe; its end of file means that the parent is gone. This also works after kill -9, and on macOS, which cannot send
a signal when a parent dies.
"""

import os
import signal
import subprocess
import sys
import threading


def _supervise(pipe: int, command: list[str]) -> int:
    # The whole group receives these signals; wait for the command to handle them.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    child = subprocess.Popen(command)
    threading.Thread(target=_kill_at_end_of, args=(pipe,), daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code  # killed by a signal; 128 + n, as in shells


def _kill_at_end_of(pipe: int) -> None:
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)  # the group consists of this process and its children


if __name__ == "__main__":
    sys.exit(_supervise(int(sys.argv[1]), sys.argv[2:]))
