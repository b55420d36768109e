"""Errors that no command foresees, as findings."""

import os
import traceback
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from ultracluster_rules.findings import Finding

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
    return Finding(
        code="UC9015",
        problem=f"unexpected {type(error).__name__}: {str(error)[:200]} ({Path(place.filename).name}:{place.lineno})",
        remedy=f"Run it again; if it persists, report it with the traceback that {TRACEBACK_VARIABLE}=1 prints",
    )
