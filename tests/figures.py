"""`make figures` counts lines, modules, folders, imports and codes of the product, by plain counting of its source."""

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["SOURCE_ROOTS", "Module", "figures", "product_modules"]

SOURCE_ROOTS: Final = ("constructs", "stacks", "cli", "localaws")
LOCAL: Final = "ultracluster_local"
"""A distribution beside the others, whose lines are counted apart."""

_CODE: Final = re.compile(r"UC\d{4}")
_TABLE_OF_CODES: Final = 50
"""A module with more codes than this is the registry, or a table of it, and states no rule."""


@dataclass(frozen=True)
class Module:
    """A module of the product.

    Attributes:
        name: Dotted name; of a package without `__init__`.
        path: File.
        lines: Number of lines.
        tree: Syntax tree.
    """

    name: str
    path: Path
    lines: int
    tree: ast.Module

    @property
    def package(self) -> str:
        """Return the top-level package."""
        return self.name.partition(".")[0]


def product_modules(root: Path) -> list[Module]:
    """Read every module under the source roots.

    Args:
        root: Top of the repository.
    """
    return [
        _module(path, path.relative_to(root / source))
        for source in SOURCE_ROOTS
        for path in sorted((root / source).glob("ultracluster*/**/*.py"))
    ]


def figures(modules: list[Module]) -> dict[str, Any]:
    """Count.

    Args:
        modules: Modules of the product.

    Returns:
        Figures of each package, of all packages but the local AWS, and of all.
    """
    stated = _codes(modules)
    imported_by = _imported_by(modules)
    folders = Counter(module.path.parent for module in modules if module.path.name != "__init__.py")
    groups = {package: [package] for package in dict.fromkeys(module.package for module in modules)}
    groups["main distribution"] = [package for package in groups if package != LOCAL]
    groups["all"] = [*groups["main distribution"], *({LOCAL} & groups.keys())]
    return {
        "packages": {
            name: _counted([module for module in modules if module.package in packages], imported_by)
            for name, packages in groups.items()
        },
        "files_per_folder": {folder.as_posix(): count for folder, count in folders.most_common(5)},
        "codes_in_several_modules": sum(len(places) > 1 for places in stated.values()),
        "codes_in_modules": Counter(len(places) for places in stated.values()),
    }


def _counted(modules: list[Module], imported_by: Mapping[str, set[str]]) -> dict[str, int]:
    return {
        "lines": sum(module.lines for module in modules),
        "modules": len(modules),
        "longest": max(module.lines for module in modules),
        "imports_in_functions": sum(_imports_in_functions(module.tree) for module in modules),
        "imported_once": sum(len(imported_by[module.name]) == 1 for module in modules),
    }


def _module(path: Path, place: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    parts = place.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name=name, path=path, lines=len(text.splitlines()), tree=ast.parse(text, str(path)))


def _imports_in_functions(tree: ast.Module) -> int:
    # Of nested functions only once: by the place of the import.
    return len(
        {
            node.lineno
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
    )


def _codes(modules: list[Module]) -> dict[str, set[str]]:
    """Return the modules that state each code as a string, without the tables of codes."""
    by_module = {
        module.name: {
            node.value
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE.fullmatch(node.value)
        }
        for module in modules
    }
    places: dict[str, set[str]] = {}
    for name, codes in by_module.items():
        for code in codes if len(codes) <= _TABLE_OF_CODES else ():
            places.setdefault(code, set()).add(name)
    return places


def _imported_by(modules: list[Module]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {module.name: set() for module in modules}
    for module in modules:
        for target in _imported(module.tree):
            if target in found and target != module.name:
                found[target].add(module.name)
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _table(counted: Mapping[str, Any]) -> str:
    head = ("lines", "modules", "longest", "imports in functions", "imported once")
    rows = [("package", *head)] + [
        (name, *(f"{number:,}" for number in row.values())) for name, row in counted["packages"].items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
    several = {
        modules: codes for modules, codes in sorted(counted["codes_in_modules"].items()) if modules > 1
    }
    return "\n".join(
        [
            *lines,
            "",
            f"codes stated in more than one module: {counted['codes_in_several_modules']}",
            *(f"  {codes:3}  in {modules}" for modules, codes in several.items()),
            "files per folder, the largest:",
            *(f"  {count:3}  {folder}" for folder, count in counted["files_per_folder"].items()),
        ]
    )


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout to count")
    options = parser.parse_args()
    counted = figures(product_modules(options.root))
    sys.stdout.write((json.dumps(counted, indent=2) if options.json else _table(counted)) + "\n")


if __name__ == "__main__":
    _main()
