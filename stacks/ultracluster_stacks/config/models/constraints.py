"""Constraints on the value of one field, each with the code of its rule, for pydantic and the JSON schema."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.reading.problem import Loc, Problem, shown

__all__ = ["Between", "Form", "Known", "NotEmpty", "refusal", "refusal_of", "resource_id"]


def refusal(*, code: str, problem: str, allowed: str = "", remedy: str = "") -> PydanticCustomError:
    """Return a pydantic error whose type is the rule's code and whose context has the parts of the finding."""
    parts = {"problem": problem, "allowed": allowed, "remedy": remedy}
    text = str(Finding(code=code, **parts)).removeprefix(f"{code}: ")
    return PydanticCustomError(code, "{text}", parts | {"text": text})


def refusal_of(finding: Finding | Problem) -> PydanticCustomError:
    """Return a pydantic error for a finding of a shared rule."""
    return refusal(code=finding.code, problem=finding.problem, allowed=finding.allowed, remedy=finding.remedy)


@dataclass(kw_only=True, eq=False, repr=False)
class _FieldRule:
    code: str

    def check(self, value: Any) -> Any:
        raise NotImplementedError

    def json_schema(self) -> dict[str, Any]:
        raise NotImplementedError

    def broken(self, loc: Loc, problem: str, *, allowed: str = "", remedy: str = "") -> Problem:
        """Return the problem of a value that breaks the rule in combination with other fields.

        Args:
            loc: Location of the value in the cluster or job.
            problem: What is wrong, with the value.
            allowed: What is allowed. Default: omitted.
            remedy: What to do. Default: omitted.
        """
        return Problem(loc=loc, code=self.code, problem=problem, allowed=allowed, remedy=remedy)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | self.json_schema()


@dataclass(kw_only=True, eq=False, repr=False)
class Form(_FieldRule):
    """Require that a string matches a pattern.

    Attributes:
        pattern: Regular expression for the whole string, in the subset that JSON schema supports.
        allowed: Description of the pattern, with an example.
        explain: Function that returns a remedy for an invalid string. Default: no remedy.
    """

    pattern: str
    allowed: str
    explain: Callable[[str], str] | None = None

    def check(self, value: str) -> str:
        """Return the value.

        Raises:
            PydanticCustomError: The value does not match.
        """
        if re.fullmatch(self.pattern, value):
            return value
        remedy = "" if self.explain is None else self.explain(value)
        raise refusal(code=self.code, problem=f"got {shown(value)}", allowed=self.allowed, remedy=remedy)

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"pattern": f"^(?:{self.pattern})$"}


def resource_id(kind: str, *, code: str) -> Form:
    """Return the constraint for the ID of an EC2 resource.

    Args:
        kind: Prefix of the ID, such as ``subnet``.
        code: Code of the rule.
    """
    return Form(
        code=code,
        pattern=rf"{kind}-(?:[0-9a-f]{{17}}|[0-9a-f]{{8}})",
        allowed=f"{kind}- and 17 hexadecimal digits",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Between(_FieldRule):
    """Require that an integer is within inclusive bounds."""

    least: int
    most: int
    remedy: str = ""

    def check(self, value: int) -> int:
        """Return the value.

        Raises:
            PydanticCustomError: The value is out of bounds.
        """
        if self.least <= value <= self.most:
            return value
        allowed = f"{self.least:,} to {self.most:,}"
        raise refusal(code=self.code, problem=f"got {shown(value)}", allowed=allowed, remedy=self.remedy)

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"minimum": self.least, "maximum": self.most}


@dataclass(kw_only=True, eq=False, repr=False)
class Known(_FieldRule):
    """Require that a string is one of the known names."""

    names: Collection[str]
    explain: Callable[[str], str]

    def check(self, value: str) -> str:
        """Return the value.

        Raises:
            PydanticCustomError: The name is unknown.
        """
        if value in self.names:
            return value
        raise refusal(
            code=self.code,
            problem=f"got {shown(value)}",
            allowed=", ".join(self.names),
            remedy=self.explain(value),
        )

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"enum": list(self.names)}


@dataclass(kw_only=True, eq=False, repr=False)
class NotEmpty(_FieldRule):
    """Require that a list has an item.

    Pydantic's `min_length` counts only valid items, so it also reports a list whose items are all invalid.
    """

    code: str = "UC1024"

    def check(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the value.

        Raises:
            PydanticCustomError: The list is empty.
        """
        if value:
            return value
        raise refusal(code=self.code, problem="the list is empty", allowed="at least one item")

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"minItems": 1}
