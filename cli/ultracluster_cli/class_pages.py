"""Pages about the public classes of the constructs, read from their source: an import would start Node."""

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from ultracluster_cli.project.shipped import shipped

_PACKAGES = ("ultracluster", "ultracluster_spec")


@cache
def classes() -> Mapping[str, ast.ClassDef]:
    """Return the public classes by name."""
    spec = find_spec(_PACKAGES[0])
    if spec is None or spec.origin is None:
        return {}
    public = set(re.findall(r'"(\w+)"', Path(spec.origin).read_text(encoding="utf-8")))
    return {name: made for module in _modules() for name, made in module.items() if name in public}


@cache
def _trees() -> list[ast.Module]:
    """Return the modules; those of the constructs come last."""
    folders = [Path(spec.origin).parent for name in _PACKAGES if (spec := find_spec(name)) and spec.origin]
    return [
        ast.parse(path.read_text(encoding="utf-8"))
        for folder in reversed(folders)
        for path in sorted(folder.rglob("*.py"))
    ]


@cache
def _modules() -> list[dict[str, ast.ClassDef]]:
    """Return the classes of each module by name."""
    return [{node.name: node for node in tree.body if isinstance(node, ast.ClassDef)} for tree in _trees()]


@cache
def _bounded() -> Mapping[str, ast.expr]:
    """Return the types with bounds to which modules give a private name."""
    return {
        name: value
        for tree in _trees()
        for node in tree.body
        if isinstance(node, ast.Assign) and (name := ast.unparse(node.targets[0])).startswith("_")
        if ast.unparse(value := node.value).startswith("Annotated[")
    }


def _bases(made: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """Yield the bases of a class that its module defines or that are public."""
    beside = next((module for module in _modules() if module.get(made.name) is made), {})
    for name in map(ast.unparse, made.bases):
        if base := beside.get(name, classes().get(name)):
            yield base


def page_of(name: str) -> str:
    """Return the page of a class: what it is, its arguments, an example, and what it has and does."""
    made = classes()[name]
    about = (ast.get_docstring(made) or "").partition("\nAttributes:\n")[0].rstrip()
    parts = [f"# {name}", f"`from ultracluster import {name}`", about]
    values = {} if _own_or_inherited(made, "__init__") else _fields(made)
    sections = {
        "Arguments": _arguments(made),
        "Example": _example(name),
        "Attributes": [
            f"- `{field}`: {text}" for field, text in _all_attributes(made).items() if field not in values
        ],
        "Methods": [f"- `{call}`: {text}" for call, text in _methods(made)],
    }
    for title, lines in sections.items():
        if lines := list(lines):
            parts += [f"## {title}", "\n".join(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _arguments(made: ast.ClassDef) -> Iterator[str]:
    init = _own_or_inherited(made, "__init__")
    if init is None:  # a value: its fields are its arguments
        for name, (annotation, default, text) in _fields(made).items():
            if text:
                yield f"- `{name}: {annotation}{default}`: {text}"
        return
    described = _described(ast.get_docstring(init) or "")
    defaults = dict(zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True))
    for argument in (*init.args.args[3:], *init.args.kwonlyargs):
        given = defaults.get(argument)
        value = f" = {ast.unparse(given)}" if given is not None else ""
        yield f"- `{argument.arg}: {_type(argument.annotation)}{value}`: {described.get(argument.arg, '')}"
    if init.args.kwarg:
        yield f"- `**{init.args.kwarg.arg}`: {described.get(init.args.kwarg.arg, '')}"


def _fields(made: ast.ClassDef) -> dict[str, tuple[str, str, str]]:
    """Return type, default and text of each field; one that is declared again without a text keeps that of its base."""
    described = dict(_attributes(made)) | _described(ast.get_docstring(made) or "", "Attributes")
    found = {name: field for base in reversed([*_bases(made)]) for name, field in _fields(base).items()}
    for statement in made.body:
        if isinstance(statement, ast.AnnAssign):
            name, value = ast.unparse(statement.target), statement.value
            # The text of a field says what a factory makes.
            is_plain = value and not ast.unparse(value).startswith("field(")
            default = f" = {ast.unparse(value)}" if value and is_plain else ""
            text = described.get(name) or found.get(name, ("", "", ""))[2]
            found[name] = (_type(statement.annotation), default, text)
    return found


def _type(annotation: ast.expr | None) -> str:
    return ast.unparse(_WithoutBounds().visit(annotation)) if annotation else "object"


class _WithoutBounds(ast.NodeTransformer):
    """A type as callers know it: bounds and private names say nothing to them."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
            return cast("ast.AST", self.visit(node.slice.elts[0]))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return cast("ast.AST", self.visit(_bounded()[node.id])) if node.id in _bounded() else node


def _described(docstring: str, title: str = "Args") -> dict[str, str]:
    """Return the texts of a section of a docstring by name."""
    section = re.search(rf"^{title}:\n((?:    .*\n?|\n)*)", docstring, re.MULTILINE)
    entries = re.split(r"^(?=\S)", textwrap.dedent(section[1]) if section else "", flags=re.MULTILINE)
    pairs = (entry.partition(":") for entry in entries if ":" in entry)
    return {name.strip("* "): " ".join(text.split()) for name, _, text in pairs}


def _attributes(made: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, below in zip(made.body, made.body[1:], strict=False):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
    for function in made.body:
        if isinstance(function, ast.FunctionDef) and any(
            "property" in ast.unparse(each) for each in function.decorator_list
        ):
            yield function.name, _sentence(ast.get_docstring(function) or "")


def _all_attributes(made: ast.ClassDef) -> dict[str, str]:
    """Return the attributes of a class and of its bases."""
    return dict(_attributes(made)) | {
        name: text
        for base in _bases(made)
        for name, text in _all_attributes(base).items()
        if name not in dict(_attributes(made))
    }


def _methods(made: ast.ClassDef) -> Iterator[tuple[str, str]]:
    names = {name for name, _ in _attributes(made)}
    functions = [each for each in made.body if isinstance(each, ast.FunctionDef)]
    for function in functions:
        if not function.name.startswith("_") and function.name not in names:
            taken = [each.arg for each in (*function.args.args[1:], *function.args.kwonlyargs)]
            taken += [f"**{function.args.kwarg.arg}"] if function.args.kwarg else []
            yield f"{function.name}({', '.join(taken)})", _sentence(ast.get_docstring(function) or "")
    for base in _bases(made):
        yield from _methods(base)


def _own_or_inherited(made: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    for function in made.body:
        if isinstance(function, ast.FunctionDef) and function.name == name:
            return function
    return next((found for base in _bases(made) if (found := _own_or_inherited(base, name))), None)


def _example(name: str) -> Iterator[str]:
    """Yield the statement of an example project that makes an object of the class."""
    for path in sorted(shipped("examples").glob("*/app.py"), key=lambda path: path.parent.name != "own-app"):
        source = path.read_text(encoding="utf-8")
        for statement in ast.parse(source).body:
            called = {ast.unparse(each.func) for each in ast.walk(statement) if isinstance(each, ast.Call)}
            if name in called and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                yield f"```python\n{ast.get_source_segment(source, statement)}\n```\n"
                yield f"From `ultracluster init FOLDER --example {path.parent.name}`."
                return


def _sentence(text: str) -> str:
    return text.partition("\n")[0]
