"""Run a Python handler: events as lines on stdin, answers as lines on stdout, log on stderr. Started by `lambda_runtime`."""

import datetime as dt
import importlib
import importlib.machinery
import json
import os
import sys
import threading
import time
import traceback
from queue import SimpleQueue
from typing import TextIO


class Context:
    """The context object of a handler."""

    def __init__(self, request: str) -> None:
        self.aws_request_id = request
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ.get("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        self.invoked_function_arn = os.environ["LOCAL_AWS_FUNCTION_ARN"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]
        self._deadline = time.monotonic() + 60

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds that are left."""
        return max(0, int((self._deadline - time.monotonic()) * 1000))


_RealDatetime = dt.datetime


class _SameType(type):
    """Metaclass whose `isinstance` check also accepts the original type, which libraries may use."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _RealDatetime)


class _MovedDatetime(dt.datetime, metaclass=_SameType):
    """A datetime whose `now` follows the shifted `time.time`."""

    @classmethod
    def now(cls, tz: "dt.tzinfo | None" = None) -> "_MovedDatetime":
        """Return the moved time."""
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls) -> "_MovedDatetime":
        """Return the moved time in UTC, without a zone."""
        return cls.now(dt.timezone.utc).replace(tzinfo=None)  # noqa: UP017 - any Python may run this


_real_time = time.time
_ahead = 0.0


def set_clock(moment: "str | None") -> None:
    """Set the clock of this process; None sets it to the machine's."""
    global _ahead  # noqa: PLW0603 - a process has one clock
    _ahead = 0.0 if moment is None else _RealDatetime.fromisoformat(moment).timestamp() - _real_time()


def replace_clock() -> None:
    """Let this process see the time of `set_clock`. Comes before the imports of the handler."""
    time.time = lambda: _real_time() + _ahead
    setattr(dt, "datetime", _MovedDatetime)  # noqa: B010 - a type checker takes no assignment to a type


class _OwnCodeOnly:
    """Import modules of the handler's directory from there only, as on Lambda.

    Otherwise, an installed package with an `__init__` would take precedence over a directory of the handler's code
    without one, and hide that a module is missing there.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._names = {name.partition(".")[0] for name in os.listdir(directory)}  # noqa: PTH208 - pathlib costs time here

    def find_spec(
        self, name: str, path: object = None, _target: object = None
    ) -> "importlib.machinery.ModuleSpec | None":
        """Find a module of the handler's code; leave others to the next finder."""
        if path is not None or name not in self._names:
            return None
        return importlib.machinery.PathFinder.find_spec(name, [self._directory])


def answer(line: str) -> "dict[str, object]":
    """Return what the handler named by ``_HANDLER`` answers to a line with an event."""
    asked = json.loads(line)
    set_clock(asked["time"])
    try:
        module, function = os.environ["_HANDLER"].rsplit(".", 1)
        handler = getattr(importlib.import_module(module.replace("/", ".")), function)
        return {"failed": False, "response": json.dumps(handler(asked["event"], Context(asked["request"])))}
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is its answer
        traceback.print_exc()
        raised = {"errorType": type(error).__name__, "errorMessage": str(error)}
        return {"failed": True, "response": json.dumps(raised)}


def read_lines(events: TextIO, lines: "SimpleQueue[str]") -> None:
    """Pass on each line; when they end, as they do with the local AWS, leave a handler that runs a few seconds."""
    for line in events:
        lines.put(line)
    lines.put("")
    time.sleep(5)
    os._exit(1)


def main() -> None:
    """Answer events until standard input ends."""
    events, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    # A handler and the processes that it starts neither read events nor write among the answers.
    with open(os.devnull) as nothing:  # noqa: PTH123 - pathlib costs start-up time here
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    # The handler's directory comes first, and that of the harness last, which has cfnresponse for inline functions.
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs start-up time here
    sys.path[:] = [os.getcwd(), *(entry for entry in sys.path if entry != here), here]  # noqa: PTH109 - likewise
    sys.meta_path.insert(0, _OwnCodeOnly(os.getcwd()))  # noqa: PTH109 - likewise
    replace_clock()
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=read_lines, args=(events, lines), daemon=True).start()
    while line := lines.get():
        answers.write(json.dumps(answer(line)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
