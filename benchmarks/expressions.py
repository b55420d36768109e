"""Expressions that can be written in Python and in JavaScript."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["JAVASCRIPT", "PYTHON", "Attribute", "Call", "Expression", "Language", "Static", "Struct"]


@dataclass(frozen=True)
class Static:
    """A name, such as ``cdk.RemovalPolicy.RETAIN``."""

    name: str


@dataclass(frozen=True)
class Attribute:
    """A property of what a variable holds."""

    variable: str
    name: str


@dataclass(frozen=True)
class Struct:
    """Values that belong together, of a named class in Python."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of a function, method or class, perhaps kept in a variable."""

    name: str
    arguments: Sequence[Any] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    variable: str = ""
    raw: bool = False

    @property
    def makes_an_object(self) -> bool:
        """Whether it is a class that is called."""
        return self.name.rpartition(".")[2].split("(")[0][:1].isupper()


Expression = Static | Attribute | Struct | Call

# Names whose capitals do not follow from the words.
_CAMEL = {"enforce_ssl": "enforceSSL", "minimum_tls_version": "minimumTLSVersion"}


@dataclass(frozen=True)
class Language:
    """How expressions are written."""

    constant: Callable[[Any], str]
    name: Callable[[str], str]
    python: bool

    def statement(self, expression: Expression) -> str:
        """Write an expression as a line of its own."""
        text = self.write(expression)
        variable = getattr(expression, "variable", "") if isinstance(expression, Call) else ""
        if self.python:
            return f"{variable} = {text}" if variable else text
        return f"const {variable} = {text};" if variable else f"{text};"

    def write(self, value: Any) -> str:
        """Write a value."""
        match value:
            case Static(name):
                return name
            case Attribute(variable, name):
                return f"{variable}.{self.name(name)}"
            case Struct(name, values):
                return f"{name}({self._options(values)})" if self.python else self._object(values)
            case Call():
                return self._call(value)
            case dict():
                pairs = (f"{self.constant(key)}: {self.write(each)}" for key, each in value.items())
                return "{" + ", ".join(pairs) + "}"
            case list() | tuple():
                return "[" + ", ".join(self.write(each) for each in value) + "]"
            case _:
                return self.constant(value)

    def _call(self, call: Call) -> str:
        new = "new " if call.makes_an_object and not self.python else ""
        if call.raw:
            return new + call.name
        owner, dot, name = call.name.rpartition(".")
        function = call.name if call.makes_an_object else f"{owner}{dot}{self.name(name)}"
        arguments = [self.write(each) for each in call.arguments]
        if call.options:
            arguments.append(self._options(call.options) if self.python else self._object(call.options))
        return f"{new}{function}({', '.join(arguments)})"

    def _options(self, values: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={self.write(each)}" for name, each in values.items())

    def _object(self, values: Mapping[str, Any]) -> str:
        return (
            "{" + ", ".join(f"{self.name(name)}: {self.write(each)}" for name, each in values.items()) + "}"
        )


def _camel(name: str) -> str:
    return _CAMEL.get(name) or re.sub(r"_+([a-z0-9])", lambda match: match[1].upper(), name.strip("_"))


PYTHON = Language(constant=repr, name=lambda name: name, python=True)
JAVASCRIPT = Language(constant=json.dumps, name=_camel, python=False)
