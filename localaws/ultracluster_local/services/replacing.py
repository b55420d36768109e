"""Functions that are called instead of moto's own, once the local AWS is installed into it."""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["install", "instead_of"]

_Function = Callable[..., Any]

_REPLACED: list[tuple[Any, str, _Function]] = []


def instead_of(owner: Any, *names: str) -> Callable[[_Function], _Function]:
    """Return a decorator of a function that is called instead of others, with what it replaces as its first argument.

    Args:
        owner: Class or module of moto.
        names: Names in it.
    """

    def register(function: _Function) -> _Function:
        _REPLACED.extend((owner, name, function) for name in names)
        return function

    return register


def install() -> None:
    """Put all of them in place, in the order in which they were registered."""
    for owner, name, function in _REPLACED:
        original = getattr(owner, name)
        setattr(owner, name, functools.wraps(original)(_with(function, original)))


def _with(function: _Function, original: _Function) -> _Function:
    return lambda *arguments, **named: function(original, *arguments, **named)
