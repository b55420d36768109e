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
    """Return the error for pydantic: its type is the code of the rule, its context holds the parts of the finding."""
    parts = {"problem": problem, "allowed": allowed, "remedy": remedy}
    text = str(Finding(code=code, **parts)).removeprefix(f"{code}: ")
    return PydanticCustomError(code, "{text}", parts | {"text": text})


def refusal_of(found: Finding | Problem) -> PydanticCustomError:
    """Return the error for a finding of a rule that is stated elsewhere."""
    return refusal(code=found.code, problem=found.problem, allowed=found.allowed, remedy=found.remedy)


# Rules are never compared or printed, and generating these methods takes four times as long as the rest of the class.
@dataclass(kw_only=True, eq=False, repr=False)
class _FieldRule:
    code: str

    def check(self, value: Any) -> Any:
        raise NotImplementedError

    def json_schema(self) -> dict[str, Any]:
        raise NotImplementedError

    def broken(self, loc: Loc, problem: str, *, allowed: str = "", remedy: str = "") -> Problem:
        """Return the problem of a value that breaks the rule only together with other fields.

        Args:
            loc: Place of the value in the cluster or job.
            problem: What is wrong, with the value.
            allowed: What would be right. Default: not said.
            remedy: What to do. Default: not said.
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
    """A text matches a pattern.

    Attributes:
        pattern: Regular expression that the whole text matches; of the subset that JSON schema knows too.
        allowed: The form in words, with an example.
        explain: Returns a remedy for a wrong text. Default: no remedy.
    """

    pattern: str
    allowed: str
    explain: Callable[[str], str] | None = None

    def check(self, value: str) -> str:
        """Return the text.

        Raises:
            PydanticCustomError: It has another form.
        """
        if re.fullmatch(self.pattern, value):
            return value
        remedy = "" if self.explain is None else self.explain(value)
        raise refusal(code=self.code, problem=f"got {shown(value)}", allowed=self.allowed, remedy=remedy)

    def json_schema(self) -> dict[str, Any]:
        """Return the rule as JSON schema."""
        return {"pattern": f"^(?:{self.pattern})$"}


def resource_id(kind: str, *, code: str) -> Form:
    """Return the rule for the id of an EC2 resource.

    Args:
        kind: What the id begins with, such as ``subnet``.
        code: Code of the rule.
    """
    return Form(
        code=code,
        pattern=rf"{kind}-(?:[0-9a-f]{{17}}|[0-9a-f]{{8}})",
        allowed=f"{kind}- and 17 hexadecimal digits",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Between(_FieldRule):
    """A whole number is within bounds, both included."""

    least: int
    most: int
    remedy: str = ""

    def check(self, value: int) -> int:
        """Return the number.

        Raises:
            PydanticCustomError: It is out of bounds.
        """
        if self.least <= value <= self.most:
            return value
        allowed = f"{self.least:,} to {self.most:,}"
        raise refusal(code=self.code, problem=f"got {shown(value)}", allowed=allowed, remedy=self.remedy)

    def json_schema(self) -> dict[str, Any]:
        """Return the rule as JSON schema."""
        return {"minimum": self.least, "maximum": self.most}


@dataclass(kw_only=True, eq=False, repr=False)
class Known(_FieldRule):
    """A text is one of the known names."""

    names: Collection[str]
    explain: Callable[[str], str]

    def check(self, value: str) -> str:
        """Return the name.

        Raises:
            PydanticCustomError: It is not in the table.
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
        """Return the rule as JSON schema."""
        return {"enum": list(self.names)}


@dataclass(kw_only=True, eq=False, repr=False)
class NotEmpty(_FieldRule):
    """A list has an item.

    Not pydantic's `min_length`, which counts valid items only and so reports a list whose items are all wrong.
    """

    code: str = "UC1024"

    def check(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the list.

        Raises:
            PydanticCustomError: It is empty.
        """
        if value:
            return value
        raise refusal(code=self.code, problem="the list is empty", allowed="at least one item")

    def json_schema(self) -> dict[str, Any]:
        """Return the rule as JSON schema."""
        return {"minItems": 1}
