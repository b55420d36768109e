"""`make mutation`: change the code in small ways, one at a time, and count the changes that no test notices.

mutmut makes the mutants and runs the tests, in a copy of the sources and tests in .ultracluster/mutation. It wants all
packages in one folder src. It leaves alone what a decorator or the body of a module says.
"""

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from zlib import crc32

ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.mutation.parts import PARTS, Part  # noqa: E402
from tests.mutation.row import Row  # noqa: E402 - the root is not on the path of a script

_WORK: Final = ROOT / ".ultracluster" / "mutation"
_SOURCES: Final = ("constructs", "stacks", "cli", "localaws")
_READ_BY_TESTS: Final = ("docs", "examples", "stacks", "README.md", "app.py", "cdk.json")
_EQUAL: Final = ROOT / "tests" / "mutation" / "equal.toml"

# How a message is worded is not mutated; its code, its place and when it appears are.
_WORDS: Final = r"^\s*(problem|allowed|remedy|reason)=f?[\"(]"

_SETTINGS: Final = """
[tool.mutmut]
source_paths = ["src"]
only_mutate = {only}
also_copy = {also}
do_not_mutate_patterns = ['''{words}''']
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "-m", "not slow"]
pytest_add_cli_args_test_selection = {tests}
timeout_multiplier = 2.0
timeout_constant = {seconds}
process_isolation = "forkserver"
use_git_change_detection = false
track_dependencies = false
"""

_UNNOTICED: Final = frozenset({"survived", "no tests"})
_NOTICED: Final = frozenset({"killed", "timeout", "segfault"})
_NOT_DRAWN: Final = 34  # mutmut calls it skipped
_DOUBTFUL: Final = _UNNOTICED | {"timeout"}


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, what the tests said of it, and the lines that differ, without their indent."""

    name: str
    status: str
    was: str = ""
    now: str = ""

    @property
    def function(self) -> str:
        """Module and function, as equal.toml names them: mutmut's own numbers move with each edit."""
        return re.sub(
            r"x(?:_|ǁ(\w+)ǁ)(\w+)__mutmut_\d+$", lambda m: ".".join(filter(None, m.groups())), self.name
        )


def main() -> int:
    """Run the parts that were asked for, and print how their tests did.

    Returns:
        1 when equal.toml lists what is no survivor any more, else 0.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=[*PARTS], help="default: all, one after the other")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--every", type=int, help="try one mutant of so many; default: what the part says")
    parser.add_argument(
        "--again", action="store_true", help="only what survived, and functions that changed since"
    )
    chosen = parser.parse_args()
    stale = 0
    for name in [chosen.part] if chosen.part else PARTS:
        folder, part = _WORK / name, PARTS[name]
        if not chosen.again:
            shutil.rmtree(folder, ignore_errors=True)
        _prepare(folder, part)
        if not chosen.again:
            _draw(folder, chosen.every or part.every)
            _mutate(folder, part.tests, chosen.jobs)
        _forget(folder, _DOUBTFUL if part.slow_tests or chosen.again else {"timeout"})
        _mutate(folder, (*part.tests, *part.slow_tests), chosen.jobs, seconds=10)
        stale += _report(name, folder)
    return 1 if stale else 0


def _prepare(folder: Path, part: Part) -> None:
    # Times are copied too: mutmut makes anew the mutants of functions that changed, and keeps the results of the others.
    for source in _SOURCES:
        for package in sorted((ROOT / source).glob("ultracluster*")):
            _copy(package, folder / "src" / package.name)
    for each in _READ_BY_TESTS:
        _copy(ROOT / each, folder / each)
    only = [f"src/{pattern.partition('/')[2]}" for pattern in part.files]
    settings = _SETTINGS.format(only=only, also=list(_READ_BY_TESTS), words=_WORDS, tests=[], seconds=1)
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + settings)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        left_out = shutil.ignore_patterns("__pycache__", ".hypothesis")
        shutil.copytree(source, target, ignore=left_out, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def _draw(folder: Path, every: int) -> None:
    """Make the mutants, and mark those that are not drawn; the same names are drawn each time."""
    with chdir(folder), redirect_stdout(io.StringIO()):  # mutmut reads its settings when it is imported
        from mutmut.__main__ import copy_src_dir, create_mutants
        from mutmut.configuration import reset_config

        reset_config()
        copy_src_dir()
        create_mutants(1)
    for path in (folder / "mutants").rglob("*.meta"):
        meta = json.loads(path.read_text())
        left_out = [name for name in meta["exit_code_by_key"] if crc32(name.encode()) % every]
        meta["exit_code_by_key"] |= dict.fromkeys(left_out, _NOT_DRAWN)
        path.write_text(json.dumps(meta))


def _mutate(folder: Path, tests: tuple[str, ...], jobs: int, *, seconds: int = 3) -> None:
    for place in (folder, folder / "mutants"):
        shutil.rmtree(place / "tests", ignore_errors=True)
        _copy(ROOT / "tests", place / "tests")
    settings = folder / "pyproject.toml"
    text = re.sub(
        r"(?m)^(pytest_add_cli_args_test_selection) = .*$", rf"\1 = {list(tests)}", settings.read_text()
    )
    settings.write_text(re.sub(r"(?m)^(timeout_constant) = .*$", rf"\1 = {seconds}.0", text))
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs)]
    environment = os.environ | {"PYTHONPATH": str(_WORK / "tool"), "PYTHONDONTWRITEBYTECODE": ""}
    with (folder / "mutmut.log").open("w") as log:
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=log)


def _forget(folder: Path, statuses: Collection[str]) -> None:
    """Make mutmut try again what ended so; what is killed stays killed, since tests are only added."""
    (folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    for path in (folder / "mutants").rglob("*.meta"):
        meta = json.loads(path.read_text())
        codes = meta["exit_code_by_key"]
        codes |= {name: None for name, code in codes.items() if _status(code) in statuses}
        path.write_text(json.dumps(meta))


def _status(code: int | None) -> str:
    from mutmut.stats import status_by_exit_code

    return str(status_by_exit_code[code])


def _mutants(folder: Path) -> Iterator[Mutant]:
    from mutmut.configuration import reset_config
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    with chdir(folder):
        reset_config()
        for path in sorted(Path("mutants/src").rglob("*.meta")):
            source = path.relative_to("mutants").with_suffix("")
            for name, code in json.loads(path.read_text())["exit_code_by_key"].items():
                status = _status(code)
                if status in _NOTICED or code == _NOT_DRAWN:
                    yield Mutant(name, status)
                    continue
                lines = get_diff_for_mutant(name, path=source).splitlines()[2:]
                was, now = ("\n".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
                yield Mutant(name, status, was, now)


def _report(name: str, folder: Path) -> int:
    """Print the row, and list the survivors beside the mutants; return the number of stale entries of equal.toml."""
    made = list(_mutants(folder))
    mutants = [one for one in made if one.status != "skipped"]
    strange = sorted({one.status for one in mutants} - _UNNOTICED - _NOTICED)
    if strange:
        raise SystemExit(f"{name}: mutants are {', '.join(strange)}; see {folder / 'mutmut.log'}")
    entries = [one for one in tomllib.loads(_EQUAL.read_text())["equal"] if one["part"] == name]
    listed = {(one["function"], one["was"], one["now"]) for one in entries}
    unnoticed = [one for one in mutants if one.status in _UNNOTICED]
    equal = [one for one in unnoticed if (one.function, one.was, one.now) in listed]
    stale = listed - {(one.function, one.was, one.now) for one in equal}
    for function, was, now in sorted(stale):
        sys.stderr.write(f"equal.toml: no survivor of {function}: {was} => {now}\n")
    survivors = [one for one in unnoticed if one not in equal]
    text = "".join(f"{one.function}: {one.status}\n  - {one.was}\n  + {one.now}\n" for one in survivors)
    (folder / "survivors.txt").write_text(text)
    row = Row(
        part=name,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        made=len(made),
        tried=len(mutants),
        killed=sum(one.status in {"killed", "segfault"} for one in mutants),
        timed_out=sum(one.status == "timeout" for one in mutants),
        survived=len(survivors),
        equal=len(equal),
    )
    sys.stdout.write(f"{row}\nWhat survived: {folder / 'survivors.txt'}\n")
    return len(stale)


if __name__ == "__main__":
    sys.path.append(str(_WORK / "tool"))
    raise SystemExit(main())
