"""What a template knows of a value."""

from collections.abc import Collection
from typing import TypeVar

from aws_cdk import Token

from ultracluster_spec.values import Value

_Value = TypeVar("_Value", bound=Value)


def known(value: _Value, *, besides: Collection[str] = ()) -> _Value:
    """Return a value without the fields that only the deployment knows, which rules therefore do not judge.

    The fields `besides` stay: a template has to know them.
    """
    return value.without(
        {
            name
            for name, content in value.known().items()
            if name not in besides and isinstance(content, (str, float)) and Token.is_unresolved(content)
        }
    )
