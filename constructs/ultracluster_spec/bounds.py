"""Rules for one value: the form of a text, the bounds of a number, or a table of names.

Constructs, the configuration and the template checks share them; each finding is without a path, which the caller adds.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ultracluster_spec.credentials import hide_credentials
from ultracluster_spec.findings import Finding, quote, reject, require
from ultracluster_spec.record import RuleRecord

NOT_A_CHOICE: Final = "UC1023"
"""Code of the rule that a value is one of the choices."""


def _got(value: Any) -> str:
    return f"got {quote(hide_credentials(value) if isinstance(value, str) else value)}"


class Bound:
    """A rule for one value, which can stand in ``Annotated[...]``: pydantic calls these methods, and is not imported."""

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return a finding if the value breaks the rule."""
        raise NotImplementedError

    @property
    def json_schema(self) -> dict[str, Any]:
        """The rule in words of JSON schema."""
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Validate a field: FindingsError is a ValueError, which pydantic keeps."""

        def validate(value: Any) -> Any:
            reject(self.check(value))
            return value

        function = {"type": "no-info", "function": validate}
        return {"type": "function-after", "function": function, "schema": handler(source)}

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> Any:
        """Describe a field."""
        return handler(schema) | self.json_schema


# Rules are never compared or printed, and generating these methods takes four times as long as the rest of the class.
@dataclass(kw_only=True, eq=False, repr=False)
class Form(Bound):
    """A text matches a pattern.

    Attributes:
        code: Code of the rule.
        pattern: Regular expression that the whole text matches; of the subset that JSON schema knows too.
        allowed: The form in words, with an example.
        explain: Returns a remedy for a wrong text. Default: no remedy.
    """

    code: str
    pattern: str
    allowed: str
    explain: Callable[[str], str] | None = None

    @property
    def json_schema(self) -> dict[str, Any]:
        """Its pattern."""
        return {"pattern": f"^(?:{self.pattern})$"}

    def check(self, value: str, *, path: str = "") -> list[Finding]:
        """Return a finding if the text has another form."""
        if re.fullmatch(self.pattern, value):
            return []
        remedy = "" if self.explain is None else self.explain(value)
        return [Finding(code=self.code, problem=_got(value), allowed=self.allowed, remedy=remedy, path=path)]


@dataclass(eq=False, repr=False)
class Between(Bound):
    """A number is within bounds, both included."""

    code: str
    least: int
    most: int
    remedy: str = ""

    @property
    def json_schema(self) -> dict[str, Any]:
        """Its bounds."""
        return {"minimum": self.least, "maximum": self.most}

    def check(self, value: float, *, path: str = "") -> list[Finding]:
        """Return a finding if the number is out of bounds."""
        if self.least <= value <= self.most:
            return []
        allowed = f"{self.least:,} to {self.most:,}"
        return [Finding(code=self.code, problem=_got(value), allowed=allowed, remedy=self.remedy, path=path)]


@dataclass(kw_only=True, eq=False, repr=False)
class Known(Bound):
    """A text is one of the known names."""

    code: str
    names: Collection[str]
    explain: Callable[[str], str]

    @property
    def json_schema(self) -> dict[str, Any]:
        """Its names."""
        return {"enum": list(self.names)}

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return a finding if there is no such name."""
        if value in self.names:
            return []
        return [
            Finding(
                code=self.code,
                problem=_got(value),
                allowed=", ".join(self.names),
                remedy=self.explain(str(value)),
                path=path,
            )
        ]


@dataclass(eq=False, repr=False)
class Checked(Bound):
    """A value about which a function has no findings.

    Attributes:
        function: Returns the findings of a value.
        schema: The rule in words of JSON schema, as far as it has them. Default: nothing.
    """

    function: Callable[[Any], Iterable[Finding]]
    schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def json_schema(self) -> dict[str, Any]:
        """What of the rule JSON schema has words for."""
        return {**self.schema}

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return the findings of the function."""
        return [finding.at(path) if path else finding for finding in self.function(value)]


@dataclass(eq=False, repr=False)
class NotEmpty(Bound):
    """A list has an item.

    Pydantic's `min_length` counts only valid items, so it also reports a list whose items are all invalid.
    """

    code: str = "UC1024"

    @property
    def json_schema(self) -> dict[str, Any]:
        """At least one item."""
        return {"minItems": 1}

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return a finding if the list is empty."""
        return require(value, self.code, "the list is empty", allowed="at least one item", path=path)


RECORDS: Final = (
    RuleRecord(
        "UC1023",
        "A value with a fixed set of choices is one of these choices.",
        remedy="Use one of the choices that the finding lists.",
        source="docs/rollout.schema.json, which is generated from the models.",
        example="capacity: {market_type: capacity-block, reservation_id: cr-0123456789abcdef0}",
    ),
    RuleRecord(
        "UC1024",
        "A list has as many items as its key allows.",
        remedy="Define at least one wave with at least one cluster; delete the key of an optional list instead of leaving it empty.",
        source="Our decision: an empty rollout deploys nothing, which is never intended.",
    ),
)
