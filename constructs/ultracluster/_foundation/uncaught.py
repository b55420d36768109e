"""What an app shows that ends with findings: one line for each, and no traceback."""

import os
import sys
import traceback
from dataclasses import replace
from types import TracebackType

from ultracluster_spec.findings import FindingsError

_LIBRARIES = ("ultracluster", "jsii", "aws_cdk", "constructs")

_show_others = sys.excepthook


def show_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print findings with the line of the app that led to them, and other exceptions as Python does."""
    if not isinstance(error, FindingsError):
        _show_others(kind, error, trace)
        return
    line = _line_of_app(trace)
    for finding in error.findings:
        places = [each for each in (line, finding.location) if each]
        sys.stderr.write(f"{replace(finding, location=': '.join(places))}\n")


def _line_of_app(trace: TracebackType | None) -> str:
    lines = [
        f"{os.path.relpath(frame.f_code.co_filename)}:{line}"
        for frame, line in traceback.walk_tb(trace)
        if not str(frame.f_globals.get("__name__")).startswith(_LIBRARIES)
    ]
    return lines[-1] if lines else ""


sys.excepthook = show_uncaught
