"""Constraints on the value of one field, each with the code of its rule, for pydantic and the JSON schema."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ultracluster_rules import values
from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.reading.problem import Loc, Problem


def refusal(finding: Finding) -> PydanticCustomError:
    """Return a pydantic error whose type is the code of a finding and whose context contains the finding."""
    text = str(finding).removeprefix(f"{finding.code}: ")
    return PydanticCustomError(finding.code, "{text}", {"finding": finding, "text": text})


class _Constraint:
    """A rule for one value, as a pydantic validator."""

    code: str
    check: Callable[..., list[Finding]]

    def apply(self, value: Any) -> Any:
        """Return the value."""
        for finding in self.check(value):
            raise refusal(finding)
        return value

    def json_schema(self) -> dict[str, Any]:
        raise NotImplementedError

    def broken(self, loc: Loc, problem: str, *, allowed: str = "", remedy: str = "") -> Problem:
        """Return the problem of a value that breaks the rule in combination with other fields."""
        return Problem.of(loc, self.code, problem, allowed=allowed, remedy=remedy)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.apply, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | self.json_schema()


class Form(values.Form, _Constraint):
    """Require that a string matches a pattern."""

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"pattern": f"^(?:{self.pattern})$"}


class Between(values.Between, _Constraint):
    """Require that an integer is within inclusive bounds."""

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"minimum": self.least, "maximum": self.most}


class Known(values.Known, _Constraint):
    """Require that a string is one of the known names."""

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"enum": list(self.names)}


def constraint(rule: values.Form | values.Between | values.Known) -> Form | Between | Known:
    """Return a rule for one value as a constraint on a field."""
    kinds: dict[type, type[Form | Between | Known]] = {
        values.Form: Form,
        values.Between: Between,
        values.Known: Known,
    }
    return kinds[type(rule)](**vars(rule))


def resource_id(kind: str, *, code: str) -> Form:
    """Return the constraint for the ID of an EC2 resource, such as of kind ``subnet``."""
    return Form(
        code=code,
        pattern=rf"{kind}-(?:[0-9a-f]{{17}}|[0-9a-f]{{8}})",
        allowed=f"{kind}- and 17 hexadecimal digits",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class NotEmpty(_Constraint):
    """Require that a list has an item.

    Pydantic's `min_length` counts only valid items, so it also reports a list whose items are all invalid.
    """

    code: str = "UC1024"

    def check(self, value: tuple[Any, ...]) -> list[Finding]:
        """Return a finding if the list is empty."""
        if value:
            return []
        return [Finding(code=self.code, problem="the list is empty", allowed="at least one item")]

    def json_schema(self) -> dict[str, Any]:
        """Return the constraint as JSON schema."""
        return {"minItems": 1}
