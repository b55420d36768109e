"""The records of all rules. Importing this module imports every module that states a code, but those that need the CDK."""

import difflib
from collections.abc import Sequence
from typing import Final

from ultracluster_cli.ami import command as ami_command
from ultracluster_cli.capacity import session as capacity_session
from ultracluster_cli.deploy import rehearsal_guard
from ultracluster_cli.local import local_aws_records
from ultracluster_cli.operate import destroy
from ultracluster_cli.run import code
from ultracluster_runtime.records import RECORDS as RUNTIME
from ultracluster_spec.findings import Finding, FindingsError, quote
from ultracluster_spec.record import RuleRecord, by_code
from ultracluster_stacks.records import RECORDS as FILES

ALL_RECORDS: Final = by_code(
    FILES.values(),
    RUNTIME.values(),
    ami_command.RECORDS,
    capacity_session.RECORDS,
    rehearsal_guard.RECORDS,
    local_aws_records.RECORDS,
    destroy.RECORDS,
    code.RECORDS,
)
"""Every record, by its code."""


def selected_records(codes_as_typed: Sequence[str]) -> list[RuleRecord]:
    """Return the records of codes in any case, without duplicates."""
    codes = dict.fromkeys(code.strip().upper() for code in codes_as_typed)
    if codes.keys() - ALL_RECORDS.keys():
        raise FindingsError(
            _unknown_code(code) for code in codes_as_typed if code.strip().upper() not in ALL_RECORDS
        )
    return [ALL_RECORDS[code] for code in codes]


def _unknown_code(code_as_typed: str) -> Finding:
    matches = difflib.get_close_matches(code_as_typed.upper()[:100], ALL_RECORDS, n=1)
    allowed = "a code listed by `ultracluster docs rules`, such as UC4105"
    remedy = f"Did you mean {matches[0]}?" if matches else ""
    return Finding.message(f"got {quote(code_as_typed)}", allowed=allowed, remedy=remedy)
