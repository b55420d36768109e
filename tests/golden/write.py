"""`make golden` writes what today's code gives; `make golden VERSION=0.1.0` freezes all of it as that release as well."""

import json
import shutil
import sys
import tomllib
from pathlib import Path

from tests.golden.configurations import GOLDEN, KEPT, NEXT, configurations, templates_of
from tests.golden.kept import text_of, written
from tests.golden.stateful_ids import TABLE, stateful_ids
from tests.golden.synthesis import stacks_of
from tests.golden.types import NUMBERS, numbers_of_types

__all__ = ["freeze", "write"]


def write() -> None:
    """Write the version that is not released, and add to the table of what holds data what is new in it."""
    found = {name: stacks_of(name) for name in configurations()}
    for name in KEPT:
        templates_of(NEXT, name).write_text(text_of(found[name]), encoding="utf-8")
    numbers = {name: numbers_of_types(stacks) for name, stacks in found.items()}
    NUMBERS.write_text(written(numbers, 2) + "\n", encoding="utf-8")
    table = json.loads(TABLE.read_text("utf-8"))
    # What is there already is changed by people only: it says what their deployments hold.
    new = {name: stateful_ids(stacks) | table.get(name, {}) for name, stacks in found.items()}
    TABLE.write_text(written(table | new, 2) + "\n", encoding="utf-8")


def freeze(version: str, *, golden: Path, declared: str) -> None:
    """Keep the version that is not released as a released one, with its configurations.

    Args:
        version: The version, such as ``0.1.0``.
        golden: The folder of all versions.
        declared: The version of pyproject.toml.

    Raises:
        SystemExit: If it is another version than the declared one, or is kept already.
    """
    folder = golden / version
    if version != declared:
        raise SystemExit(f"pyproject.toml says that this is {declared}, not {version}")
    if folder.exists():
        raise SystemExit(f"{version} is kept already, and what was released never changes")
    folder.mkdir()
    for name, source in configurations().items():
        shutil.copyfile(source, folder / name)
        templates_of(folder, name).write_text(text_of(stacks_of(name)), encoding="utf-8")


if __name__ == "__main__":
    write()
    if sys.argv[1:]:
        project = tomllib.loads((GOLDEN.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
        freeze(sys.argv[1], golden=GOLDEN, declared=project["version"])
