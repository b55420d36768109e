"""Run a command, and kill it and everything it started when the parent process is gone.

Started by `child_process` as its own program: ``python supervisor.py PIPE COMMAND...``. Nobody ever writes to the pipe; its
end of file says that our parent has died, however that happened. This also works after kill -9 and on macOS, where a
process cannot ask the kernel for a signal at its parent's death.
"""

import os
import signal
import subprocess
import sys
import threading


def _supervise(pipe: int, command: list[str]) -> int:
    # These reach the command as well, being sent to the whole group; it decides what to do, and we wait for it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    child = subprocess.Popen(command)
    threading.Thread(target=_kill_at_end_of, args=(pipe, child), daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code  # a death by signal, as shells report it


def _kill_at_end_of(pipe: int, child: subprocess.Popen[bytes]) -> None:
    os.read(pipe, 1)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # the group is ours alone, and we are part of it
    else:
        child.kill()


if __name__ == "__main__":
    sys.exit(_supervise(int(sys.argv[1]), sys.argv[2:]))
