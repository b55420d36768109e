"""Mutate random places of each package and count what the tests of the same modules notice.

`python -m tests.mutation.sample --seed 21 --count 20` works in a copy of the repository. A mutant changes one comparison,
operator, condition, number, text, argument or returned value; docstrings, messages and annotations are left alone. The tests
are those that mirror the module, then the others of that folder, those elsewhere that name the changed function or a code
in it, those that judge what many modules make together, and for the local AWS the field cases of the changed service.
Survivors are printed with their lines, to be judged by a person; so are mutants whose tests did not end in time, which do not
count as killed: the machine may be busy.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tests.unit.test_tests_mirror_the_tree import TESTED_ELSEWHERE, TESTED_TOGETHER

__all__ = ["PACKAGES", "Mutant", "draw", "tests_of", "tests_that_name"]

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = {
    "catalog": ("constructs/ultracluster_catalog", "tests/unit/catalog"),
    "checks": ("constructs/ultracluster_checks", "tests/unit/checks"),
    "cli": ("cli/ultracluster_cli", "tests/unit/cli"),
    "constructs": ("constructs/ultracluster", "tests/unit/ultracluster"),
    "lifecycle": ("constructs/ultracluster_runtime/lifecycle", "tests/unit/runtime/lifecycle"),
    "local": ("localaws/ultracluster_local", "localaws/tests"),
    "plan": ("stacks/ultracluster_stacks/plan", "tests/unit/stacks/plan"),
    "purchasing": ("constructs/ultracluster_runtime/purchasing", "tests/unit/runtime/purchasing"),
    "runtime": ("constructs/ultracluster_runtime", "tests/unit/runtime"),
    "spec": ("constructs/ultracluster_spec", "tests/unit/spec"),
    "stacks": ("stacks/ultracluster_stacks", "tests/unit/stacks"),
}
_TOGETHER: Final = (
    *TESTED_ELSEWHERE.items(),
    *TESTED_TOGETHER.items(),
    ("localaws/ultracluster_local/cloudformation/resource_types", "localaws/tests/cloudformation/test_updates.py"),
    ("constructs/ultracluster_checks/model", "tests/unit/checks"),
    *(
        ("constructs/ultracluster/", f"tests/unit/ultracluster/test_{what}.py")
        for what in ("resource_properties", "public_values", "rule_examples")
    ),
    *((folder, f"tests/security/test_{what}.py") for folder in ("constructs/ultracluster/", "stacks/") for what in ("keys", "roles")),
)  # fmt: skip
_COMPARED: Final = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_MOST_FILES: Final = 12
_SECONDS: Final = 900
_PASSED: Final = frozenset({0, 5})  # 5: no tests
_WORDS: Final = frozenset({"problem", "remedy", "allowed", "reason", "help", "description"})


@dataclass(frozen=True)
class Mutant:
    """A changed module: its file, the line, and its text before and after."""

    path: Path
    line: int
    before: str
    after: str
    text: str


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield expressions of functions with their replacement."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    left_out = {id(inner) for part in _not_mutated(tree, functions) for inner in ast.walk(part)}
    for node in {id(node): node for function in functions for node in ast.walk(function)}.values():
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Return) and not isinstance(node.value, ast.Constant | None):
            yield node.value, ast.Constant(None)
        elif isinstance(node, ast.expr) and (replacement := _replacement(node)):
            yield node, replacement


def _not_mutated(tree: ast.AST, functions: list[ast.FunctionDef]) -> Iterator[ast.AST]:
    for function in functions:
        yield from function.decorator_list
        if function.returns:
            yield function.returns
    for node in ast.walk(tree):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        named = isinstance(node, ast.Assign) and {getattr(target, "id", "") for target in node.targets}
        if isinstance(node, ast.AnnAssign):
            yield node.annotation
        words = (isinstance(node, ast.keyword) and node.arg in _WORDS) or (named and named <= _WORDS)
        if docstring or words or isinstance(node, ast.JoinedStr | ast.arg | ast.Raise):
            yield node


def _replacement(node: ast.expr) -> ast.expr | None:  # noqa: PLR0911 - one for each kind
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=others):
            return ast.Compare(left, [_COMPARED[type(operator)]()], others)
        case ast.BoolOp(op=operator, values=values):
            return ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.IfExp(test=test, body=body, orelse=other):
            return ast.IfExp(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return ast.BinOp(left, ast.Sub(), right)
        case ast.Constant(value=bool(value)):
            return ast.Constant(not value)
        case ast.Constant(value=int(value)):
            return ast.Constant(value + 1)
        case ast.Constant(value=str(value)) if value:
            return ast.Constant(f"XX{value}")
    return None


def tests_of(module: Path, source: Path, tests: Path) -> list[Path]:
    """Return the test files that mirror a module, or those of the nearest folder that has any.

    Args:
        module: File of the module.
        source: Folder of its package.
        tests: Folder of the tests of the package.
    """
    folder = tests / module.relative_to(source).parent
    if module.parent.name == "scripts":  # those of nodes, whose tests start them as processes
        folder = tests.parent / "scripts"
    mirrored = sorted(folder.glob(f"test_{module.stem.strip('_')}*.py"))
    return mirrored or next(
        files for one in (folder, *folder.parents) if (files := sorted(one.glob("test_*.py")))
    )


def tests_that_name(module: Path, line: int, root: Path) -> list[Path]:
    """Return other test files that name the function of a line, or the codes of findings in it.

    Args:
        module: File of the module.
        line: Number of the line, from 1.
        root: Folder of the repository.
    """
    text = module.read_text("utf-8")
    around = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.lineno <= line <= (node.end_lineno or line)
    ]
    inner = max(around, key=lambda node: node.lineno)
    names = {node.name for node in around if not node.name.startswith("_")} - {"handler", "main"}
    words = names | set(re.findall(r"UC\d{4}", ast.get_source_segment(text, inner) or ""))
    pattern = re.compile(rf"\b({'|'.join(sorted(words))})\b") if words else None
    files = sorted((root / "tests/unit").rglob("test_*.py")) if pattern else []
    return [file for file in files if pattern and pattern.search(file.read_text("utf-8"))][:_MOST_FILES]


def draw(package: str, generator: random.Random, root: Path = ROOT) -> Mutant:
    """Draw a mutant of a random place; each place of a package is equally likely.

    Args:
        package: Name in `PACKAGES`.
        generator: Source of the draw.
        root: Folder of the repository.
    """
    source = root / PACKAGES[package][0]
    modules = sorted(source.rglob("*.py"))
    path = generator.choices(modules, [path.stat().st_size for path in modules])[0]
    text = path.read_text("utf-8")
    places = [pair for pair in _changes(ast.parse(text)) if pair[0].lineno == pair[0].end_lineno]
    if not places:
        return draw(package, generator, root)
    node, replacement = generator.choice(places)
    lines = text.splitlines(keepends=True)
    encoded = lines[node.lineno - 1].encode()
    new = f"({ast.unparse(ast.fix_missing_locations(replacement))})".encode()
    changed = (encoded[: node.col_offset] + new + encoded[node.end_col_offset :]).decode()
    mutated = "".join([*lines[: node.lineno - 1], changed, *lines[node.lineno :]])
    before = lines[node.lineno - 1].strip()
    return Mutant(path.relative_to(root), node.lineno, before, changed.strip(), mutated)


def main() -> int:
    """Try the mutants and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", choices=[[], *PACKAGES], help="default: all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--count", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "node_modules", ".ultracluster")
        )
        (copy / "node_modules").symlink_to((ROOT / "node_modules").resolve())
        for package in chosen.packages or PACKAGES:
            generator = random.Random(f"{chosen.seed} {package}")  # noqa: S311 - to draw the same again
            ends = Counter[str]()
            for _ in range(chosen.count):
                one = draw(package, generator, copy)
                end = _end(one, package, copy)
                ends[end] += 1
                if end != "killed":
                    place = f"{one.path}:{one.line}"
                    print(f"  {end}: {place}\n    - {one.before}\n    + {one.after}", flush=True)  # noqa: T201
            figures = f"{ends['killed']} of {chosen.count} killed, {ends['timed out']} timed out"
            print(f"{package}: seed {chosen.seed}, {figures}", flush=True)  # noqa: T201
    return 0


def _end(mutant: Mutant, package: str, copy: Path) -> Literal["killed", "survived", "timed out"]:
    path, (source, tests) = copy / mutant.path, (copy / name for name in PACKAGES[package])
    original = path.read_text("utf-8")
    path.write_text(mutant.text, "utf-8")
    folders = ("constructs", "stacks", "cli", "localaws")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(copy / name) for name in folders),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    mirrored = tests_of(path, source, tests)
    beside = sorted(mirrored[0].parent.glob("test_*.py"))
    named = tests_that_name(path, mutant.line, copy)
    together = [copy / file for place, file in _TOGETHER if str(mutant.path).startswith(place)]
    others = [file for file in dict.fromkeys((*beside, *together, *named)) if file not in mirrored]

    def run(*files: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *map(str, files)]
        return subprocess.run(
            command, cwd=copy, env=environment, check=False, capture_output=True, text=True, timeout=_SECONDS
        )

    cases = _field_cases(mutant.path) if package == "local" else []
    try:
        for files in filter(None, (mirrored, others, cases)):
            done = run(*files)
            if done.returncode not in _PASSED:
                path.write_text(original, "utf-8")
                failed = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", done.stdout, re.MULTILINE)
                # A file that cannot be imported names no test.
                again: list[object] = [failed[1]] if failed else [*files]
                if run(*again).returncode not in _PASSED:
                    raise SystemExit(f"{again[0]} fails without a mutant")
                return "killed"
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        path.write_text(original, "utf-8")
    return "survived"


def _field_cases(module: Path) -> list[str]:
    stems = {"events": "event", "scheduler": "schedule"}
    place = str(module).replace("_", "").removeprefix("localaws/ultraclusterlocal")
    folders = [folder.name for folder in (ROOT / "localaws/tests/field/cases").iterdir()]
    services = [f"{name}/" for name in sorted(folders) if stems.get(name, name) in place]
    return ["localaws/tests/field/test_field.py", "-k", " or ".join(services)] if services else []


if __name__ == "__main__":
    raise SystemExit(main())
