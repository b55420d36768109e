"""`make mutation`: change the code at random places, one at a time, and count the changes that no test notices.

A mutant changes one comparison, operator, condition, number, text, argument or returned value of a function; defaults of
arguments, docstrings and messages are left alone. All tests of the chosen parts run once, to learn which lines each executes
and how long it takes. Each mutant is then tried in a forked process, which has imported everything: its function gets the
changed code, and the tests that execute the line run, those that mirror the module first, until one fails. Processor time is
limited, not time, so that a busy machine ends no mutant.

Survivors are printed with their lines, to be judged by a person. Code that runs in processes of its own or while modules are
imported is seen by no test here. `.ultracluster/mutation` keeps what was tried: the same seed goes on where it was stopped.
"""

import argparse
import ast
import gc
import importlib
import json
import os
import random
import resource
import signal
import sys
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

__all__ = ["PARTS", "places"]

ROOT: Final = Path(__file__).parents[2]
_WORK: Final = ROOT / ".ultracluster" / "mutation"
_RUNTIME: Final = "constructs/ultracluster_runtime"
_TESTS: Final = "tests/unit/runtime"
# The folders or files that are mutated, and the tests that could notice.
PARTS: Final = {
    "catalog": (["constructs/ultracluster_catalog"], ["tests/unit/catalog", "tests/unit/spec"]),
    "checks": (["constructs/ultracluster_checks"], ["tests/unit/checks"]),
    "cli": (["cli/ultracluster_cli"], ["tests/unit/cli"]),
    "constructs": (["constructs/ultracluster"], ["tests/unit/ultracluster", "tests/security"]),
    "array_rendezvous": ([f"{_RUNTIME}/array_rendezvous"], [f"{_TESTS}/array_rendezvous"]),
    "lifecycle": ([f"{_RUNTIME}/lifecycle"], [f"{_TESTS}/lifecycle", f"{_TESTS}/functions"]),
    "local": (["localaws/ultracluster_local"], ["localaws/tests"]),
    "plan": (["stacks/ultracluster_stacks/plan"], ["tests/unit/stacks/plan", "tests/unit/cli/plan"]),
    "purchasing": (
        [f"{_RUNTIME}/purchasing"],
        [
            f"{_TESTS}/purchasing",
            f"{_TESTS}/functions",
            "tests/unit/cli/capacity",
        ],
    ),
    "resume": (
        [f"{_RUNTIME}/resume", f"{_RUNTIME}/jobs/resumes.py"],
        [f"{_TESTS}/resume", f"{_TESTS}/jobs", f"{_TESTS}/functions"],
    ),
    "rollout": (
        [f"{_RUNTIME}/rollout", "cli/ultracluster_cli/rollout"],
        [f"{_TESTS}/rollout", "tests/unit/cli/rollout"],
    ),
    "rules": (
        ["constructs/ultracluster_spec/cluster_rules", "stacks/ultracluster_stacks/config"],
        ["tests/unit/spec", "tests/unit/stacks/config", "tests/unit/bad_inputs"],
    ),
    "spec": (
        ["constructs/ultracluster_spec"],
        ["tests/unit/spec", "tests/unit/stacks/config/reading", "tests/unit/bad_inputs"],
    ),
}
_SOURCE_ROOTS: Final = ("constructs", "stacks", "cli", "localaws")
_COMPARED: Final = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_WORDS: Final = frozenset({"problem", "remedy", "allowed", "reason", "help", "description"})
_WALL_SECONDS: Final = 900
_TRACED_CALLS: Final = 100
"""Of a function in a test: tracing each of very many calls would take minutes."""


@dataclass(frozen=True)
class Place:
    """Where a mutant is: a file, an expression of it by number, and the lines of the statement around it."""

    part: str
    path: Path
    number: int
    lines: range
    before: str
    after: str

    @property
    def name(self) -> str:
        """The place as results name it."""
        return f"{self.path.relative_to(ROOT)}:{self.lines.start}:{self.number}"


def places(path: Path, part: str = "") -> list[Place]:
    """Return all places of a file that can be mutated.

    Args:
        path: File of a module.
        part: Name in `PARTS`.
    """
    tree = ast.parse(path.read_text("utf-8"))
    around = {
        id(inner): each for each in ast.walk(tree) if isinstance(each, ast.stmt) for inner in ast.walk(each)
    }
    found = []
    for number, (node, replacement) in enumerate(_changes(tree)):
        statement = around[id(node)]
        body = getattr(statement, "body", None)
        end = body[0].lineno if body else (statement.end_lineno or statement.lineno) + 1
        lines = range(statement.lineno, max(end, statement.lineno + 1))
        found.append(Place(part, path, number, lines, ast.unparse(node), ast.unparse(replacement)))
    return found


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield expressions of functions with their replacement."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    left_out = {id(inner) for part in _not_mutated(tree, functions) for inner in ast.walk(part)}
    for node in {id(node): node for function in functions for node in ast.walk(function)}.values():
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
            yield node.value, ast.Constant(None)
        elif isinstance(node, ast.expr) and (replacement := _replacement(node)):
            yield node, replacement


def _not_mutated(tree: ast.AST, functions: list[ast.FunctionDef]) -> Iterator[ast.AST]:
    for function in functions:
        yield from function.decorator_list
        yield function.args
        if function.returns:
            yield function.returns
    for node in ast.walk(tree):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        named = isinstance(node, ast.Assign) and {getattr(target, "id", "") for target in node.targets}
        if isinstance(node, ast.AnnAssign):
            yield node.annotation
        words = (isinstance(node, ast.keyword) and node.arg in _WORDS) or (named and named <= _WORDS)
        if docstring or words or isinstance(node, ast.JoinedStr | ast.Raise):
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


def _mutated(place: Place) -> CodeType:
    """Return the code of a module with the mutant in it; all other lines keep their numbers."""
    tree = ast.parse(place.path.read_text("utf-8"))
    node, replacement = list(_changes(tree))[place.number]
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, ast.copy_location(replacement, node))
            elif isinstance(value, list):
                value[:] = [ast.copy_location(replacement, node) if one is node else one for one in value]
    return compile(ast.fix_missing_locations(tree), str(place.path), "exec")


def _functions_in(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _functions_in(inner)


@dataclass
class Mutants:
    """A plugin of pytest that tries mutants instead of running the tests that were collected."""

    drawn: list[Place]
    files: frozenset[str]
    results: Path
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    functions: list[FunctionType] = field(default_factory=list)
    sound: set[str] = field(default_factory=set)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn what each test executes, then try one mutant after the other."""
        for path in map(Path, sorted(self.files)):
            if path.stem != "__main__":  # would run the command line
                _import(path)
        gc.unfreeze()
        self.functions = [
            each
            for each in gc.get_objects()
            if isinstance(each, FunctionType) and each.__code__.co_filename in self.files
        ]
        gc.freeze()
        learnt = self.results.with_suffix(".lines.json")
        if not learnt.exists():
            learnt.write_text(json.dumps(_forked(lambda: self._learn(session.items), 3600)))
        self.lines, self.seconds = json.loads(learnt.read_text())
        known = [json.loads(line)["place"] for line in _lines(self.results)]
        for place in self.drawn:
            if place.name in known:
                continue
            started = time.monotonic()
            end, by = self._end(place, session.items)
            row = {"place": place.name, "part": place.part, "end": end, "by": by}
            row |= {"before": place.before, "after": place.after, "seconds": time.monotonic() - started}
            with self.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return True

    def _end(self, place: Place, every: list[pytest.Item]) -> tuple[str, str]:
        """Return what became of a mutant, and the test that noticed it, which must pass without the mutant."""
        items = self._tests(place, every)
        seconds = 20 + 5 * sum(self.seconds[item.nodeid] for item in items)
        try:
            by = _forked(lambda: _failing(items, self._mutate(place)), seconds)
        except TimeoutError:
            return "timed out", ""
        if by and by not in self.sound:
            if _forked(lambda: _failing([item for item in items if item.nodeid == by]), seconds):
                print(f"fails without a mutant: {by}")  # noqa: T201
                del self.lines[by]
                return self._end(place, every)
            self.sound.add(by)
        return "killed" if by else "survived" if items else "no test", by

    def _learn(self, items: list[pytest.Item]) -> Any:
        """Return the lines that each test executes, if it passes, and its processor time."""
        executed: dict[str, set[int]] = defaultdict(set)
        calls = Counter[CodeType]()

        def called(frame: FrameType, _event: str, _argument: object) -> Any:
            code = frame.f_code
            if code.co_filename not in self.files:
                return None
            calls[code] += 1
            if calls[code] > _TRACED_CALLS:
                if calls[code] == 100 * _TRACED_CALLS:
                    sys.settrace(None)  # such a test has seen all that it will see
                return None
            lines = executed[code.co_filename]

            def line(frame: FrameType, _event: str, _argument: object) -> Any:
                lines.add(frame.f_lineno)
                return line

            return line

        lines, seconds = {}, {}
        threading.settrace(called)
        for item, following in zip_longest(items, items[1:]):
            executed.clear()
            calls.clear()
            started = time.process_time()
            sys.settrace(called)
            reports = runtestprotocol(item, log=False, nextitem=following)
            sys.settrace(None)
            if any(report.failed for report in reports):
                print(f"fails without a mutant: {item.nodeid}", file=sys.stderr)  # noqa: T201
            elif executed:
                lines[item.nodeid] = {name: sorted(each) for name, each in executed.items()}
                seconds[item.nodeid] = time.process_time() - started
        return lines, seconds

    def _tests(self, place: Place, items: list[pytest.Item]) -> list[pytest.Item]:
        """Return the tests that execute a place: those that mirror the module, then the cheapest files."""
        file, mirror = str(place.path), f"/test_{place.path.stem.strip('_')}"
        chosen = [
            item
            for item in items
            if any(line in place.lines for line in self.lines.get(item.nodeid, {}).get(file, ()))
        ]
        cost: dict[Path, float] = defaultdict(float)
        for item in chosen:
            cost[item.path] += self.seconds[item.nodeid]
        chosen.sort(
            key=lambda item: (
                mirror not in item.nodeid,
                cost[item.path],
                item.path,
                self.seconds[item.nodeid],
            )
        )
        return chosen

    def _mutate(self, place: Place) -> None:
        changed = {(code.co_qualname, code.co_firstlineno): code for code in _functions_in(_mutated(place))}
        for function in self.functions:
            code = function.__code__
            new = changed.get((code.co_qualname, code.co_firstlineno))
            if code.co_filename == str(place.path) and new and new.co_freevars == code.co_freevars:
                function.__code__ = new


def _failing(items: list[pytest.Item], _mutated: None = None) -> str:
    """Return the first test that fails."""
    for item, following in zip_longest(items, items[1:]):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            item.session._setupstate.teardown_exact(None)
            return item.nodeid
    return ""


def _import(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    importlib.import_module(".".join(parts).removesuffix(".__init__"))


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _forked(work: Callable[[], object], seconds: float) -> Any:
    """Return what work returns in a forked process, or raise TimeoutError if it used more processor time than that."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        signal.alarm(max(_WALL_SECONDS, int(20 * seconds)))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            answer = json.dumps(work()).encode()
            with os.fdopen(writer, "wb") as file:
                file.write(answer)
        except BaseException:  # noqa: BLE001 - nothing of this process may reach the code of the parent
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read()
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test that failed has left
    if os.WIFSIGNALED(status):
        raise TimeoutError
    if status:
        raise SystemExit("a process of tests ended in an error of tests/mutation/sample.py")
    return json.loads(answer)


def main() -> int:
    """Try the mutants and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"default: all; of {', '.join(PARTS)}")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--count", type=int, default=50, help="mutants of all chosen parts together")
    parser.add_argument("--marks", default="", help="as pytest -m")
    chosen = parser.parse_args()
    parts = chosen.parts or [*PARTS]
    found = {
        path: part
        for part in parts
        for source in PARTS[part][0]
        for path in ([ROOT / source] if source.endswith(".py") else sorted((ROOT / source).rglob("*.py")))
        if path.parent.name != "scripts"  # of nodes, which start them as processes
    }
    every = [place for path, part in found.items() for place in places(path, part)]
    drawn = random.Random(chosen.seed).sample(every, min(chosen.count, len(every)))  # noqa: S311
    results = _WORK / f"{'-'.join(parts)}.{chosen.seed}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    tests = list(dict.fromkeys(test for part in parts for test in PARTS[part][1]))
    plugin = Mutants(drawn, frozenset(map(str, found)), results)
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", *tests]
    arguments.append(f"--basetemp={results.with_suffix('.tmp')}")  # which each process empties first
    end = pytest.main([*arguments, *(["-m", chosen.marks] if chosen.marks else [])], [plugin])
    rows = [json.loads(line) for line in _lines(results)]
    for row in rows:
        if row["end"] not in {"killed", "timed out"}:
            print(f"{row['end']}: {row['place']}\n    - {row['before']}\n    + {row['after']}")  # noqa: T201
    for part in parts:
        ends = Counter(row["end"] for row in rows if row["part"] == part)
        figures = ", ".join(f"{count} {end}" for end, count in ends.most_common())
        print(f"{part}: seed {chosen.seed}, {ends.total()} tried: {figures}")  # noqa: T201
    return int(end)


if __name__ == "__main__":
    raise SystemExit(main())
