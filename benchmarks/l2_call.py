"""The call that defines an L2 construct."""

from typing import Any

from expressions import Call, Static

__all__ = ["new_construct"]


def new_construct(cluster: Any, place: tuple[str, str], name: str, **options: Any) -> Call:
    """Return the definition of a construct in the stack of its resource, without the options that are None."""
    given = {key: value for key, value in options.items() if value is not None}
    return Call(name, [Static(cluster.stack(place)), place[1]], given, variable=cluster.variable(place))
