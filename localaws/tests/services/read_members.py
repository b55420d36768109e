"""Which members of a request the code that answers it names: a member that it does not name cannot be used."""

import ast
import re
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import moto
from moto.core.utils import camelcase_to_underscores

import ultracluster_local

_OURS = Path(ultracluster_local.__file__).parent
_MOTO = Path(moto.__file__).parent
_FOLDERS = {  # of the local AWS, beside services/SERVICE
    "autoscaling": ["services/auto_scaling"],
    "batch": ["services/batch", "jobs"],
    "cloudformation": ["cloudformation"],
    "cloudwatch": ["services/observability", "alarms"],
    "ec2": ["services/ec2", "services/public_images.py"],
    "events": ["services/messaging", "events"],
    "lambda": ["services/lambda_functions.py", "functions"],
    "logs": ["services/observability"],
    "scheduler": ["events", "services/messaging"],
    "sns": ["services/messaging"],
}
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_OURS_ALONE = frozenset({"autoscaling", "cloudformation"})  # the operations of moto are removed
_BY_PATH = frozenset({"s3"})  # moto finds the code of an operation by the query string, not by a name
_DEPTH = 6  # calls from the method of an operation to the line that reads a member
_COMMON = frozenset(
    [
        "add",
        "append",
        "copy",
        "create",
        "delete",
        "description",
        "format",
        "get",
        "items",
        "join",
        "keys",
        "name",
        "pop",
        "self",
        "split",
        "tags",
        "update",
        "values",
    ]
)


@cache
def _sources(service: str, ours: bool) -> dict[str, list[frozenset[str]]]:
    """Return the words in each function, class and constant of the code for a service, by its name and what it is registered for."""
    if ours:
        own = _FOLDERS.get(service) or [f"services/{service}", f"services/{service}.py"]
        paths = [_OURS / one for one in [*own, "services/handlers.py"]]
    elif service in _OURS_ALONE:
        paths = []
    else:
        paths = [_MOTO / ("awslambda" if service == "lambda" else service)]
    found: dict[str, list[frozenset[str]]] = {}
    for path in (file for one in paths for file in ([one] if one.suffix else one.rglob("*.py"))):
        if not path.exists():
            continue
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            for name in _names(node):
                words = _WORD.findall("\n".join(lines[node.lineno - 1 : node.end_lineno]))  # type: ignore[attr-defined]
                found.setdefault(name, []).append(frozenset(words))
    return found


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
        for given in (one.args for one in node.decorator_list if isinstance(one, ast.Call)):
            yield from (
                camelcase_to_underscores(one.value)
                for one in given
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            )
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name) and target.id.isupper():
                yield target.id


@cache
def _words(service: str, operation: str) -> frozenset[str]:
    """Return the words of the code that answers an operation; empty if nothing does."""
    if service in _BY_PATH:
        return _all_words(service)
    moto_sources, our_sources = _sources(service, ours=False), _sources(service, ours=True)
    seen: set[str] = set()
    words: set[str] = set()
    waiting = deque([(camelcase_to_underscores(operation), 0)])
    while waiting:
        name, depth = waiting.popleft()
        if name in seen:
            continue
        seen.add(name)
        for one in (*moto_sources.get(name, ()), *our_sources.get(name, ())):
            words |= one
            if depth < _DEPTH:
                waiting += [
                    (word, depth + 1)
                    for word in one
                    if word not in _COMMON and (word in moto_sources or word in our_sources)
                ]
    return frozenset(words)


@cache
def _all_words(service: str) -> frozenset[str]:
    return frozenset(
        word
        for ours in (True, False)
        for parts in _sources(service, ours=ours).values()
        for one in parts
        for word in one
    )


def is_answered(service: str, operation: str) -> bool:
    """Return whether code for the operation exists."""
    return bool(_words(service, operation))


def unread(service: str, operation: str, shape: Any) -> Iterator[str]:
    """Yield the members of an operation that its code does not name; below the first level, that of its service."""
    for name, member in shape.members.items() if shape else ():
        if not _forms(name, member) & _words(service, operation):
            yield name
        else:
            yield from _unread_parts(service, member, name, (shape.name,))


def _unread_parts(service: str, shape: Any, path: str, above: tuple[str, ...]) -> Iterator[str]:
    if shape.type_name == "list":
        yield from _unread_parts(service, shape.member, path, above)
    elif shape.type_name == "structure" and shape.name not in above:
        for name, member in shape.members.items():
            if not _forms(name, member) & _all_words(service):
                yield f"{path}.{name}"
            else:
                yield from _unread_parts(service, member, f"{path}.{name}", (*above, shape.name))


def _forms(name: str, member: Any) -> set[str]:
    """Return the ways in which code may write the name of a member."""
    wire = member.serialization.get("name", name)
    written = {name, wire, name[0].lower() + name[1:]}
    return written | {one.lower() for one in written} | {camelcase_to_underscores(one) for one in written}
