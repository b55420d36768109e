"""Read untrusted templates: files of at most 1 MB, and cloud assemblies.

Everything slow or ambiguous to read is refused, with the line: directories and devices, large files, deep nesting,
aliases, duplicate keys.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ultracluster_catalog.limits.service_limits import TEMPLATE_RESOURCES, TEMPLATE_SIZE_BYTES
from ultracluster_checks import Source
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.untrusted_files import (
    NotRegularError,
    TooLargeError,
    display_name,
    read_untrusted_file,
    refuse_file,
)
from ultracluster_stacks.cloud_assembly import stack_templates
from ultracluster_stacks.yaml_template import (
    DEEPEST_NESTING,
    TemplateError,
    UnsupportedTemplateError,
    read_yaml_template,
)


def read_templates(paths: Sequence[Path], *, region: str | None = None) -> list[Source]:
    """Read templates from files and cloud assemblies such as cdk.out. Default Region: that of the assembly, if any.

    Raises:
        FindingsError: Findings of all templates that cannot be read (UC9505 to UC9508, UC9510).
    """
    sources: list[Source] = []
    findings: list[Finding] = []
    for path in paths:
        try:
            files = stack_templates(path) if path.is_dir() else [(path, None)]
            sources += [_read(file, region or file_region) for file, file_region in files]
        except FindingsError as error:
            findings += error.findings
    reject(findings)
    return sources


def _read(path: Path, region: str | None) -> Source:
    text = _text(path)
    lines: Mapping[tuple[str | int, ...], int]
    try:
        if text.lstrip()[:1] == "{":
            body, lines = _json(text), _LinesOfJson(text)
        else:
            body, lines = read_yaml_template(text)
    except TemplateError as error:
        raise refuse_file(path, error.code, error.problem, error.allowed, line=error.line) from None
    if not isinstance(body, dict) or not isinstance(body.get("Resources"), dict):
        raise refuse_file(path, "UC9508", "there are no top-level Resources", "a CloudFormation template")
    if len(body["Resources"]) > TEMPLATE_RESOURCES:
        problem = f"there are {len(body['Resources'])} Resources"
        raise refuse_file(
            path, "UC9508", problem, f"at most {TEMPLATE_RESOURCES}, the limit of CloudFormation"
        )
    return Source(name=display_name(path), body=body, region=region, lines=lines)


def _text(path: Path) -> str:
    try:
        content = read_untrusted_file(path, most_bytes=TEMPLATE_SIZE_BYTES)
    except OSError as error:
        raise refuse_file(path, "UC9505", f"the file cannot be read: {error.strerror}") from None
    except NotRegularError:
        raise refuse_file(path, "UC9505", "this is not a regular file", "a template") from None
    except TooLargeError:
        allowed = f"at most {TEMPLATE_SIZE_BYTES:,} bytes"
        raise refuse_file(path, "UC9505", "the file exceeds the limit of CloudFormation", allowed) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refuse_file(path, "UC9505", "this is not UTF-8", "text in UTF-8", line=line) from None


def _json(text: str) -> Any:
    try:
        body = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise TemplateError(f"this is not valid JSON: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise _too_deep() from None
    except TemplateError:
        raise
    except ValueError as error:
        raise TemplateError(f"this is not valid JSON: {quote(str(error))}") from None
    _refuse_depth(body)
    return body


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise TemplateError(f"duplicate key {quote(duplicate)}", "each key once")
    return members


def _no_number(text: str) -> None:
    raise TemplateError(f"got {quote(text)}, which is not a JSON number")


def _refuse_depth(body: Any) -> None:
    level = [body]
    for _ in range(DEEPEST_NESTING + 1):
        level = [
            part
            for value in level
            if isinstance(value, dict | list)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> TemplateError:
    return UnsupportedTemplateError(f"nesting deeper than {DEEPEST_NESTING}", f"{DEEPEST_NESTING} levels")


class _LinesOfJson(Mapping[tuple[str | int, ...], int]):
    """Lines of a JSON file, found lazily with the YAML reader, because only findings need them."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _lines(self) -> Mapping[tuple[str | int, ...], int]:
        try:
            return read_yaml_template(self._text)[1]
        except TemplateError:  # for example because of a tab, which only JSON allows
            return {}

    def __getitem__(self, path: tuple[str | int, ...]) -> int:
        return self._lines[path]

    def __iter__(self) -> Iterator[tuple[str | int, ...]]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


RECORDS: Final = (
    RuleRecord(
        "UC9505",
        "A template to check is a regular file that can be read, of at most 1 MB, in UTF-8.",
        remedy="Specify a file of at most 1,000,000 bytes, the limit of CloudFormation.",
        source="CloudFormation user guide, quotas.",
    ),
    RuleRecord(
        "UC9508",
        "A template to check has resources, at most 500.",
        remedy="Specify a CloudFormation template, or the folder of a cloud assembly.",
        source="CloudFormation user guide, template sections.",
    ),
)
