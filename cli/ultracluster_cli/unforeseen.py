"""Errors that no command foresees, as findings."""

import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from ultracluster_spec.findings import Finding


def finding_of(error: Exception) -> Finding:
    """Return the finding of an error of files and streams, of AWS, or, for all others, of a bug."""
    if isinstance(error, OSError):
        subject = _near(str(error.filename)) if error.filename is not None else "input or output"
        return Finding.message(f"{subject}: {error.strerror or error}")
    if isinstance(error, (BotoCoreError, ClientError, ResponseParserError)):
        return Finding.message(str(error), remedy="Check credentials, Region, endpoint and permissions")
    place = traceback.extract_tb(error.__traceback__)[-1]
    kept = _keep_traceback(error)
    return Finding.message(
        f"a bug in ultracluster: {type(error).__name__}: {str(error)[:200]} ({Path(place.filename).name}:{place.lineno})",
        remedy=f"Report it with {kept}, which has the traceback" if kept else "Report it",
    )


def _near(path: str) -> str:
    """Return a path as seen from the current folder, if it lies in it: whole paths do not fit on a line."""
    with suppress(ValueError, OSError):
        return str(Path(path).relative_to(Path.cwd()))
    return path


def _keep_traceback(error: Exception) -> str:
    """Write the traceback into a file that only its owner reads; return its path, or an empty string without one."""
    with (
        suppress(OSError),
        tempfile.NamedTemporaryFile(
            "w",
            prefix="ultracluster-",
            suffix=".txt",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file,
    ):
        file.write("".join(traceback.format_exception(error)))
        return file.name
    return ""
