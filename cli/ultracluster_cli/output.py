"""Print tables and JSON on stdout, findings and progress on stderr."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ultracluster_rules.findings import Finding, printable


def say(text: str) -> None:
    """Print a line to stderr, so that stdout carries only results."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


def print_findings(findings: Iterable[Finding]) -> None:
    """Print warnings to stderr, one line each."""
    for finding in findings:
        say(f"warning: {finding}")


def print_json(value: Any) -> None:
    """Print `value` to stdout as one JSON document."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def print_table(*, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], title: str = "") -> None:
    """Print rows to stdout as a table with a column for each key of `columns`.

    Args:
        columns: Keys of the rows in column order, which are also the headings.
        rows: Rows to print; numbers are right-aligned, and None is an empty cell.
        title: Line above the table. Default: none.
    """
    table = Table(title=title or None, title_justify="left", header_style="bold")
    cells = [[row.get(column) for column in columns] for row in rows]
    for number, column in enumerate(columns):
        numeric = any(isinstance(row[number], int | float) for row in cells)
        table.add_column(column.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*("" if cell is None else _text(cell) for cell in row))
    # Pipes and logs have no width; the default of 80 columns would break IDs.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    with console.capture() as printed:  # rich itself would end the process if the pipe is closed
        console.print(table)
    sys.stdout.write(printed.get())


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return escape(printable(str(cell)))
