"""Print tables and JSON on stdout, findings and progress on stderr."""

import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TextIO

from ultracluster_spec.findings import Finding, printable

_UNLIMITED = 200  # pipes and logs have no width
_GAP = "  "
_PAIRS = ", "
_KEPT = "\x00"  # stands for the space between date and time, at which lines do not wrap
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)")
_AMOUNT = re.compile(r"(≈ )?[\d,]+\.\d\d( to [\d,]+\.\d\d)?")
_BOLD, _RED, _YELLOW, _GREEN = "1", "31", "33", "32"
_STYLES = {
    _RED: re.compile(
        r"(\w+_)?FAIL(ED)?|ALARM|INVALID|\w*ROLLBACK\w*|failed|expired|impaired|stopped|terminated"
    ),
    _YELLOW: re.compile(
        r"WARN|UNKNOWN|SUBMITTED|PENDING|RUNNABLE|STARTING|DISABLED|INSUFFICIENT_DATA|\w+_IN_PROGRESS|"
        r"scheduled|pending|payment-pending|waiting"
    ),
    _GREEN: re.compile(
        r"PASS|OK|RUNNING|SUCCEEDED|ENABLED|VALID|AVAILABLE|\w+_COMPLETE|active|running|done|passed|ok"
    ),
}


def echo(text: str) -> None:
    """Print a line to stderr, so that stdout carries only results. A terminal gets it wrapped at words."""
    sys.stderr.write(f"{wrapped(printable(text))}\n")
    sys.stderr.flush()


def echo_command(words: Sequence[str]) -> None:
    """Print a command to stderr in lines that can be copied as they are, each option beside its value."""
    width = shutil.get_terminal_size().columns - len(" \\")
    parts: list[str] = []
    for word in words:
        quoted = word if word == word.upper() else shlex.quote(word)
        # The last word may be an option that takes this one as its value.
        if parts and parts[-1].startswith("--") and parts[-1] != "--" and not word.startswith("--"):
            parts[-1] += f" {quoted}"
        else:
            parts.append(quoted)
    lines, line = [], ""
    for part in parts:
        if line and len(line) + 1 + len(part) > width:
            lines.append(line)
            line = f"{_GAP}{_GAP}{part}"
        else:
            line = f"{line} {part}" if line else f"{_GAP}{part}"
    sys.stderr.write(" \\\n".join([*lines, line]) + "\n")


def wrapped(text: str) -> str:
    """Return text wrapped at words if stderr is a terminal, and as it is otherwise."""
    if not sys.stderr.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join("\n".join(_wrap(line, width, indent=_GAP)) for line in text.split("\n"))


def print_note(text: str) -> None:
    """Print a sentence below a table to stdout. A terminal gets it wrapped at words."""
    print_text(f"{_GAP}{text}", indent=_GAP * 2)


def print_text(text: str, *, indent: str = _GAP) -> None:
    """Print a line to stdout. A terminal gets it wrapped at words, with further lines indented."""
    sys.stdout.write("".join(f"{part}\n" for part in lines_of(text, indent=indent)))


def lines_of(text: str, *, indent: str) -> Sequence[str]:
    """Return a line for stdout: for a terminal as several, wrapped at words, with further ones indented."""
    line = printable(text)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else len(line)
    return _wrap(line, width, indent=indent)


def print_findings(findings: Iterable[Finding]) -> None:
    """Print warnings to stderr, one line each."""
    for finding in findings:
        print_warning(finding)


def print_warning(what: object) -> None:
    """Print a warning to stderr."""
    echo(f"warning: {what}")


def print_json(**members: Any) -> None:
    """Print a JSON object to stdout, with times in ISO 8601, and the text of findings, amounts and paths."""
    sys.stdout.write(json.dumps(members, indent=2, default=_json_text) + "\n")


def _json_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 cluster`` or ``2 clusters``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def short_time(at: datetime) -> str:
    """Return a time in the zone of this machine, such as ``22 Nov 20:45 CET``, with the year if it is another one."""
    local = at.astimezone()
    year = "" if local.year == datetime.now(local.tzinfo).year else f" {local:%Y}"
    return f"{local.day} {local:%b}{year} {local:%H:%M %Z}"


def print_table(
    rows: Iterable[Mapping[str, Any]],
    *,
    columns: Iterable[str] | None = None,
    title: str = "",
    details: Collection[str] = (),
) -> None:
    """Print rows to stdout as a table with a column for each key of `columns`.

    Columns without a value are left out. Words and IDs stay whole. Where the terminal is too narrow, `details` move below their row; if that is not enough, each row
    becomes a list of its cells.

    Args:
        rows: Rows to print; numbers and amounts are right-aligned, None is an empty cell, and times are short and local.
        columns: Keys of the rows in column order, which are also the headings. Default: all keys.
        title: Line above the table. Default: none.
        details: Columns that explain a row, in which the first has a value if another has. Default: none.
    """
    rows = list(rows)
    columns = dict.fromkeys(key for row in rows for key in row) if columns is None else columns
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED
    cells = {
        column: [_text(row.get(column)) for row in rows]
        for column in columns
        if not rows or any(row.get(column) is not None for row in rows)
    }
    numeric = {column for column in cells if any(_is_number(row.get(column)) for row in rows)}
    below = {column: cells.pop(column) for column in details} if _narrowest(cells) > width else {}
    lines = [_styled(line, _BOLD) for line in _wrap(title, width)] if title else []
    if _narrowest(cells) > width:
        lines += _list_lines(cells | below, width)
    else:
        lines += _table_lines(cells, width, numeric, below)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines).replace(_KEPT, " "))


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) or (isinstance(cell, str) and bool(_AMOUNT.fullmatch(cell)))


def _table_lines(
    cells: Mapping[str, Sequence[str]], width: int, numeric: set[str], below: Mapping[str, Sequence[str]]
) -> Iterable[str]:
    widths = {
        column: max(len(_heading(column)), *map(len, texts), 0) if texts else len(_heading(column))
        for column, texts in cells.items()
    }
    least = {column: _longest_word(column, texts) for column, texts in cells.items()}
    while sum(widths.values()) + len(_GAP) * (len(widths) - 1) > width:
        widest = max((column for column in widths if widths[column] > least[column]), key=widths.__getitem__)
        widths[widest] -= 1

    def lines_of(texts: Mapping[str, str]) -> Iterable[str]:
        parts = {column: _wrap(text, widths[column]) for column, text in texts.items()}
        for number in range(max(map(len, parts.values()), default=0)):
            line = []
            for column, wrapped_text in parts.items():
                text = wrapped_text[number] if number < len(wrapped_text) else ""
                padded = text.rjust(widths[column]) if column in numeric else text.ljust(widths[column])
                line.append(_styled(padded, _style_of(texts[column])))
            yield _GAP.join(line)

    for line in lines_of({column: _heading(column) for column in cells}):
        yield _styled(line.rstrip(), _BOLD)
    yield _GAP.join("-" * size for size in widths.values())
    for number in range(len(next(iter(cells.values()), ()))):
        yield from lines_of({column: texts[number] for column, texts in cells.items()})
        first, *others = [(column, texts[number]) for column, texts in below.items()] or [("", "")]
        if first[1]:
            pairs = [first[1], *(f"{_heading(column)}: {text}" for column, text in others)]
            yield from _wrap(f"{_GAP}{_PAIRS.join(pairs)}", width, indent=_GAP * 2)


def _list_lines(cells: Mapping[str, Sequence[str]], width: int) -> Iterable[str]:
    first, *others = cells
    if len(others) == 1:
        yield from _pair_lines(cells[first], cells[others[0]], width)
        return
    for number, text in enumerate(cells[first]):
        yield _styled(text, _BOLD)
        lines, line, values = [], "", {column: cells[column][number] for column in others}
        for column, value in values.items():
            if not value:
                continue
            pair = f"{_heading(column)}: {value}"
            if line and len(line) + len(_PAIRS) + len(pair) > width:
                lines.append(line)
                line = ""
            *full, line = _wrap(f"{line}{_PAIRS}{pair}" if line else f"{_GAP}{pair}", width, indent=_GAP * 2)
            lines += full
        yield from (_colored(full_line, values) for full_line in ((*lines, line) if line else lines))


def _pair_lines(names: Sequence[str], values: Sequence[str], width: int) -> Iterable[str]:
    """Yield names beside their values; a value with a word that is too long for its column begins on the next line."""
    size = max(map(len, names), default=0)
    for name, value in zip(names, values, strict=True):
        fits = max(map(len, value.split()), default=0) <= width - size - len(_GAP)
        indent = " " * (size + len(_GAP)) if fits else _GAP * 2
        head = _styled(name.ljust(size), _BOLD)
        lines = _wrap(value, width - len(indent))
        yield f"{head}{_GAP}{lines.pop(0)}" if fits else head
        yield from (f"{indent}{line}" for line in lines)


def _colored(line: str, values: Mapping[str, str]) -> str:
    for column, value in values.items():
        if style := _style_of(value):
            line = line.replace(
                f"{_heading(column)}: {value}", f"{_heading(column)}: {_styled(value, style)}"
            )
    return line


def _narrowest(cells: Mapping[str, Sequence[str]]) -> int:
    words = sum(_longest_word(column, texts) for column, texts in cells.items())
    return words + len(_GAP) * (len(cells) - 1)


def _longest_word(column: str, texts: Sequence[str]) -> int:
    return max((len(word) for text in (_heading(column), *texts) for word in text.split()), default=0)


def _heading(column: str) -> str:
    return column.replace("_", " ")


def _wrap(text: str, width: int, *, indent: str = "") -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [""]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, datetime):
        return short_time(cell).replace(" ", _KEPT)
    text = printable(str(cell))
    return _text(datetime.fromisoformat(text)) if _TIME.fullmatch(text) else text


def _style_of(text: str) -> str:
    return next((style for style, pattern in _STYLES.items() if pattern.fullmatch(text)), "")


def _styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and has_colors(sys.stdout) else text


def has_colors(stream: TextIO) -> bool:
    """Return whether a stream shows colours: a terminal, unless NO_COLOR (no-color.org) is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
