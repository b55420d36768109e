"""cfn-lint with its rules read once for each process, and without some of the work that it does again and again.

Reading the rules takes as long as judging a template does. A third of the rest is spent in two places that work out
the same thing for each value; here they keep it. What is found is the same: tests/grid/test_cfn_lint.py.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import regex
from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.helpers import RegexDict
from cfnlint.match import Match
from cfnlint.runner import Runner, run_template_by_data
from cfnlint.schema.resolver._resolver import RefResolver

__all__ = ["AS_SHIPPED", "KEEPING", "lint"]


def lint(text: str, *, regions: Sequence[str]) -> list[Match]:
    """What cfn-lint has against a template in Regions, by its usual rules."""
    template, unreadable = decode_str(text)
    config = ConfigMixIn(regions=list(regions))
    return unreadable or list(run_template_by_data(template, config, _rules()))


@functools.cache
def _rules() -> Any:
    for (owner, name), function in KEEPING.items():
        setattr(owner, name, function)
    return Runner(ConfigMixIn()).rules


def _contains(names: Mapping[str, Any], name: Any) -> bool:
    """Whether a name is one of the patterns: tried together, not one by one."""
    return isinstance(name, str) and bool(names) and bool(_any_of(tuple(names)).fullmatch(name))


@functools.lru_cache(maxsize=8)
def _any_of(patterns: tuple[str, ...]) -> Any:
    return regex.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_FRAGMENTS: dict[tuple[int, str], tuple[Any, Any]] = {}


def _resolve_fragment(resolver: Any, document: Any, fragment: str) -> Any:
    """Find a part of a schema: sought once in each document, not once for each validator."""
    key = (id(document), fragment)
    if key not in _FRAGMENTS:
        # The document is kept, so that its id stays its own.
        _FRAGMENTS[key] = (
            document,
            AS_SHIPPED[RefResolver, "resolve_fragment"](resolver, document, fragment),
        )
    return _FRAGMENTS[key][1]


Functions = dict[tuple[type, str], Callable[..., Any]]

AS_SHIPPED: Functions = {
    (owner, name): getattr(owner, name)
    for owner, name in ((RegexDict, "__contains__"), (RefResolver, "resolve_fragment"))
}

KEEPING: Functions = {
    (RegexDict, "__contains__"): _contains,
    (RefResolver, "resolve_fragment"): _resolve_fragment,
}
