"""Rules for the value of one field, each with its code; pydantic runs them and writes them into the schema."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.reading.problem import shown

__all__ = ["Between", "Form", "Known", "NotEmpty", "refusal"]


def refusal(*, code: str, problem: str, allowed: str = "", remedy: str = "") -> PydanticCustomError:
    """The error that a rule raises; its type is the rule's code, its context the parts of the finding."""
    parts = {"problem": problem, "allowed": allowed, "remedy": remedy}
    text = str(Finding(code=code, **parts)).removeprefix(f"{code}: ")
    return PydanticCustomError(code, "{text}", parts | {"text": text})


# Nobody compares, shows or changes a rule: to define what a dataclass has for that takes four times as long as all the rest.
@dataclass(kw_only=True, eq=False, repr=False)
class _FieldRule:
    code: str

    def check(self, value: Any) -> Any:
        raise NotImplementedError

    def json_schema(self) -> dict[str, Any]:
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | self.json_schema()


@dataclass(kw_only=True, eq=False, repr=False)
class Form(_FieldRule):
    """A text has a form.

    Attributes:
        pattern: Regular expression that the whole text matches; of the subset that JSON schema knows too.
        allowed: The form in words, with an example.
        explain: Says what a wrong text probably is, as a remedy. Default: nothing is said.
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
        """The rule in JSON schema."""
        return {"pattern": f"^(?:{self.pattern})$"}


@dataclass(kw_only=True, eq=False, repr=False)
class Between(_FieldRule):
    """A whole number has bounds, both included."""

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
        """The rule in JSON schema."""
        return {"minimum": self.least, "maximum": self.most}


@dataclass(kw_only=True, eq=False, repr=False)
class Known(_FieldRule):
    """A text is one of a table's names."""

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
        """The rule in JSON schema."""
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
        """The rule in JSON schema."""
        return {"minItems": 1}
