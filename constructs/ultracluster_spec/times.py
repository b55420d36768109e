"""Times of values: in UTC, however they are written."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from ultracluster_spec.bounds import Bound
from ultracluster_spec.credentials import hide_credentials
from ultracluster_spec.findings import Finding, FindingsError, quote
from ultracluster_spec.record import RuleRecord

UTC_TIME: Final = "UC4111"
"""Code of a time that is not in UTC."""

_PATTERN: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z"


class UtcTime(Bound):
    """A time has an offset from UTC; a text is ISO 8601 in UTC."""

    @property
    def json_schema(self) -> dict[str, Any]:
        """A text, because JSON has no times."""
        return {"type": "string", "pattern": f"^{_PATTERN}$", "examples": ["2026-12-01T11:30:00Z"]}

    def check(self, value: Any, *, path: str = "") -> list[Finding]:  # noqa: ARG002
        """Return nothing: the rule about start and end judges offsets, after the file was read."""
        return []

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Read the text before pydantic checks that it is a time."""
        return {
            "type": "function-before",
            "function": {"type": "no-info", "function": read_utc},
            "schema": handler(source),
        }

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> Any:
        """Describe a field."""
        return self.json_schema


def read_utc(value: Any) -> Any:
    """Return a time of a rollout file in UTC; what is neither text nor time is returned as it is, for others to refuse."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if not isinstance(value, (str, datetime)):
        return value
    text = str(value)
    if re.fullmatch(_PATTERN, text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            remedy = "This date or time does not exist"
    elif re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        remedy = "Add the time and Z"
    elif re.fullmatch(r"[0-9-]{10}[T ][0-9:.]+", text):
        remedy = "Write T between date and time, and Z at the end if it is UTC"
    else:
        remedy = "Convert it to UTC"
    problem = f"got {quote(hide_credentials(text))}"
    allowed = 'ISO 8601 in UTC, such as "2026-12-01T11:30:00Z"'
    raise FindingsError([Finding(UTC_TIME, problem, allowed=allowed, remedy=remedy)])


RECORDS: Final = (
    RuleRecord(
        "UC4111",
        "A time is ISO 8601 in UTC.",
        remedy="Convert it to UTC, write T between day and time, and Z at the end.",
        source="Our decision: Capacity Blocks start and end by UTC, and local times move with summer time.",
        example='capacity: {reservation_id: cr-0123456789abcdef0, end: "2026-12-04T11:30:00Z"}',
    ),
)
