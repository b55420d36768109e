"""Public templates of others: where they are, and their text where a local mirror has it.

Nothing of theirs is in this repository: foreign.yaml has repository, commit and path. ``ULTRACLUSTER_TEMPLATE_MIRROR``
names a folder with git directories ``owner+name/repo``.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.deep.template_defects.templates import HERE, Application, Template, parse, path_of, problems

MIRROR = "ULTRACLUSTER_TEMPLATE_MIRROR"


def listed() -> list[tuple[str, str, str]]:
    """Return repository, commit and path of each template."""
    table: dict[str, Any] = parse((HERE / "foreign.yaml").read_text())
    return [(name, body["commit"], path) for name, body in table.items() for path in body["paths"]]


def templates() -> Iterator[tuple[str, Template]]:
    """Yield name and template for each that the mirror has; nothing without a mirror."""
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return
    for name, commit, path in listed():
        folder = Path(mirror) / name.replace("/", "+") / "repo"
        if not folder.is_dir():
            continue
        shown = subprocess.run(
            ["git", "-C", str(folder), "show", f"{commit}:{path}"],
            check=False,
            capture_output=True,
            text=True,
        )
        if shown.returncode == 0:
            yield f"{name}/{path}", parse(shown.stdout)


def verdicts() -> dict[str, str]:
    """Return the verdict on each kind of finding in foreign templates and sound bases, which begins with ``right`` or ``wrong``."""
    result: dict[str, str] = parse((HERE / "verdicts.yaml").read_text())
    return result


def judged() -> Iterator[tuple[str, str, str]]:
    """Yield template, kind of finding and verdict of each finding; the verdict is empty where there is none."""
    for name, body in templates():
        yield from judged_template(name, {name: body}, None)


def judged_template(name: str, application: Application, where: str | None) -> Iterator[tuple[str, str, str]]:
    """Yield the same for the templates of one application, in a Region if one is given."""
    known = verdicts()
    for code, place in problems(application, where):
        kind = f"{code} {place.resource.type} {path_of(place)}"
        yield name, kind, known.get(kind, "")
