"""Errors that no command foresees, as findings."""

import os
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from ultracluster_spec.findings import Finding
from ultracluster_spec.record import RuleRecord

TRACEBACK_VARIABLE = "ULTRACLUSTER_TRACEBACK"
"""Environment variable that makes the command line print the traceback of an unforeseen error."""


def finding_of(error: Exception) -> Finding:
    """Return the finding of an error: UC9013 of files and streams, UC9014 of AWS, UC9015 of all others."""
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    if isinstance(error, OSError):
        subject = str(error.filename) if error.filename is not None else "input or output"
        return Finding(code="UC9013", problem=f"{subject}: {error.strerror or error}")
    if isinstance(error, (BotoCoreError, ClientError, ResponseParserError)):
        return Finding(
            code="UC9014", problem=str(error), remedy="Check credentials, Region, endpoint and permissions"
        )
    place = traceback.extract_tb(error.__traceback__)[-1]
    kept = _keep_traceback(error)
    report = f"Report it with {kept}, which has the traceback" if kept else ""
    return Finding(
        code="UC9015",
        problem=f"a bug in ultracluster: {type(error).__name__}: {str(error)[:200]} ({Path(place.filename).name}:{place.lineno})",
        remedy=report or f"Report it with the traceback that {TRACEBACK_VARIABLE}=1 prints",
    )


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


RECORDS: Final = (
    RuleRecord(
        "UC9013",
        "Files and streams that a command uses can be read or written.",
        remedy="Use a path that can be written, and read the output to its end.",
        source="Errors of the operating system, such as ENOSPC and EPIPE.",
    ),
    RuleRecord(
        "UC9014",
        "AWS and the SDK configuration behave as documented.",
        remedy="Check credentials, Region, endpoint and permissions.",
        source="botocore 1.44.5: BotoCoreError and ClientError.",
    ),
    RuleRecord(
        "UC9015",
        "No command has a bug that ends it.",
        remedy="Report it with the file that the line names, which has the traceback; ULTRACLUSTER_TRACEBACK=1 also prints it.",
        source="Our decision: people get a line, and the traceback in a file for a report.",
    ),
)
