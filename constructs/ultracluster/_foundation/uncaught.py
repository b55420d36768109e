"""What an app shows that ends with findings, or with a wrong call of ours: one line for each, and no traceback."""

import os
import re
import sys
import traceback
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from types import FrameType, TracebackType

from ultracluster_spec.arguments import arguments_error, names_of
from ultracluster_spec.findings import FindingsError

_LIBRARIES = ("ultracluster", "jsii", "aws_cdk", "constructs")

_show_others = sys.excepthook


def show_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print findings with the line of the app that led to them, and other exceptions as Python does."""
    error = _wrong_call(error, trace) or error
    if not isinstance(error, FindingsError):
        _show_others(kind, error, trace)
        return
    line = _line_of_app(trace)
    for finding in error.findings:
        places = [each for each in (line, finding.location) if each]
        sys.stderr.write(f"{replace(finding, location=': '.join(places))}\n")


def _wrong_call(error: BaseException, trace: TracebackType | None) -> FindingsError | None:
    """Return the finding of a call by the app that a class or function of ours does not take, which Python has checked."""
    called = re.match(r"([\w.]+)\(\) ", str(error)) if isinstance(error, TypeError) else None
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    if called is None or not frames or not _is_of_app(frames[-1]):
        return None
    ours, name = sys.modules["ultracluster"], called[1].partition(".")[0]
    known = getattr(ours, name, None)
    if frames[-1].f_globals.get(name, known) is not known:
        return None  # the app has another of that name
    with suppress(AttributeError):
        return arguments_error(str(error), names_of(attrgetter(called[1])(ours)))
    return None


def _line_of_app(trace: TracebackType | None) -> str:
    lines = [
        f"{os.path.relpath(frame.f_code.co_filename)}:{line}"
        for frame, line in traceback.walk_tb(trace)
        if _is_of_app(frame)
    ]
    return lines[-1] if lines else ""


def _is_of_app(frame: FrameType) -> bool:
    return not str(frame.f_globals.get("__name__")).startswith(_LIBRARIES)


sys.excepthook = show_uncaught
