"""cfn-lint with its rules read once for each process, and without some of the work that it does again and again.

Reading the rules takes as long as judging a template does. Of the rest, half is spent in three places that work out
the same thing for each value; here they keep it. What is found is the same: tests/grid/test_judges.py.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import regex
from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.helpers import RegexDict
from cfnlint.jsonschema._utils import Unset
from cfnlint.match import Match
from cfnlint.rules.jsonschema.CfnLint import CfnLint
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


def _by_keyword(rule: Any, validator: Any, keywords: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Ask the rules that a keyword of a schema names: looked up, not sought among all rules for each value."""
    only = validator.function_filter.evolve(add_cfn_lint_keyword=False)
    validator = validator.evolve(function_filter=only)
    for keyword in keywords:
        for child in _children(rule).get(keyword, ()):
            for error in child.validate(validator, keyword, instance, schema):
                if error.rule is None and isinstance(error.validator, Unset):
                    error.rule = child
                yield error


_CHILDREN: dict[int, tuple[Any, dict[str, list[Any]]]] = {}


def _children(rule: Any) -> dict[str, list[Any]]:
    rules = tuple(rule.child_rules.values())
    known = _CHILDREN.get(id(rule))
    if known is None or known[0] != rules:
        table: dict[str, list[Any]] = {}
        for child in rules:
            if child is not None and child.id:
                for keyword in child.keywords:
                    table.setdefault(keyword, []).append(child)
        known = _CHILDREN[id(rule)] = (rules, table)
    return known[1]


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
    for owner, name in ((RegexDict, "__contains__"), (CfnLint, "cfnLint"), (RefResolver, "resolve_fragment"))
}

KEEPING: Functions = {
    (RegexDict, "__contains__"): _contains,
    (CfnLint, "cfnLint"): _by_keyword,
    (RefResolver, "resolve_fragment"): _resolve_fragment,
}
