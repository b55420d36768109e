"""Constraints on the value of one field, each with the code of its rule, for pydantic and the JSON schema."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ultracluster_rules.findings import Finding, require
from ultracluster_rules.values import Between, Form, Known
from ultracluster_spec import values


def refusal(finding: Finding) -> PydanticCustomError:
    """Return a pydantic error whose type is the code of a finding and whose context contains the finding."""
    text = str(finding).removeprefix(f"{finding.code}: ")
    return PydanticCustomError(finding.code, "{text}", {"finding": finding, "text": text})


def checked_by(check: Callable[[Any], Iterable[Finding]]) -> AfterValidator:
    """Return a validator that refuses a value with the first finding of a check."""

    def validate(value: Any) -> Any:
        for finding in check(value):
            raise refusal(finding)
        return value

    return AfterValidator(validate)


@dataclass(eq=False, repr=False)
class NotEmpty:
    """A list has an item.

    Pydantic's `min_length` counts only valid items, so it also reports a list whose items are all invalid.
    """

    code: str = "UC1024"

    @property
    def json_schema(self) -> dict[str, Any]:
        """At least one item."""
        return {"minItems": 1}

    def check(self, value: tuple[Any, ...]) -> list[Finding]:
        """Return a finding if the list is empty."""
        return require(value, self.code, "the list is empty", allowed="at least one item")


@dataclass(eq=False, repr=False)
class Constraint:
    """A rule for one value as a constraint on a field."""

    rule: Form | Between | Known | NotEmpty

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        validate: Any = checked_by(self.rule.check).func
        return core_schema.no_info_after_validator_function(validate, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | self.rule.json_schema


def form(*, code: str, pattern: str, allowed: str, explain: Callable[[str], str] | None = None) -> Constraint:
    """Return the constraint that a text matches a pattern; see `Form`."""
    return Constraint(Form(code=code, pattern=pattern, allowed=allowed, explain=explain))


def resource_id(kind: str, *, code: str) -> Constraint:
    """Return the constraint for the ID of an EC2 resource, such as of kind ``subnet``."""
    return Constraint(values.resource_id(kind, code=code))
