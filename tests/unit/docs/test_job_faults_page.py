"""The runbook lists the exit codes that `jobs why` knows, and docs/reference/job-faults.md its faults."""

import re
from pathlib import Path

from ultracluster_runtime.jobs.faults import EXIT_CODES, FAULTS

DOCS = Path(__file__).parents[3] / "docs"


def link(source: str) -> str:
    return f"[source]({source})" if source.startswith("https://") else "ours"


def rows(page: str) -> list[str]:
    return re.findall(r"^\| (?:`[a-z-]+`|\d+) \|.*\|$", (DOCS / page).read_text(), re.MULTILINE)


def test_the_exit_codes_are_those_of_the_command() -> None:
    assert rows("runbook/job-failed.md") == [
        f"| {known.code} | {known.means} | {known.remedy} | {link(known.source)} |" for known in EXIT_CODES
    ]


def test_the_faults_are_those_of_the_command() -> None:
    assert rows("reference/job-faults.md") == [f"| `{fault.name}` | {fault.means} |" for fault in FAULTS]
