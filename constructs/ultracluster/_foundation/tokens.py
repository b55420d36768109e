"""What a template knows of a value."""

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from aws_cdk import Token

from ultracluster_rules.findings import Finding
from ultracluster_spec.rules import Rule, findings
from ultracluster_spec.values import Value, broken_bounds

_Value = TypeVar("_Value", bound=Value)


def known(value: _Value, *, besides: Collection[str] = ()) -> _Value:
    """Return a value without the fields that only the deployment knows, which rules therefore do not judge.

    The fields `besides` stay: a template has to know them.
    """
    return value.without(
        {name for name, content in value.known().items() if name not in besides and not _is_known(content)}
    )


def _is_known(content: Any) -> bool:
    return not (isinstance(content, (str, float)) and Token.is_unresolved(content))


def check_known(
    value: Value, rules: Iterable[Rule[Any]] = (), *, besides: Collection[str] = ()
) -> list[Finding]:
    """Return the bounds and rules that a value breaks, as far as a template knows its fields; see `known`.

    A field that breaks its bound is unset for the rules.
    """
    own = known(value, besides=besides)
    found = broken_bounds(own, is_known=_is_known)
    return found + findings(rules, own.without({finding.path for finding in found}))
