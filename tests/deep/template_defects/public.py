"""Public templates of others: where they are, and their text where a local mirror has it.

Nothing of theirs is in this repository: public.yaml has repository, commit and path. ``ULTRACLUSTER_TEMPLATE_MIRROR``
names a folder with git directories ``owner+name/repo``.
"""

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.deep.template_defects.table import judged
from tests.deep.template_defects.templates import HERE, Template, parse

MIRROR = "ULTRACLUSTER_TEMPLATE_MIRROR"


def listed() -> list[tuple[str, str, str]]:
    """Return repository, commit and path of each template."""
    table: dict[str, Any] = parse((HERE / "public.yaml").read_text())
    return [(name, body["commit"], path) for name, body in table.items() for path in body["paths"]]


def templates() -> Iterator[tuple[str, Template]]:
    """Yield name and template for each that the mirror has; nothing without a mirror."""
    mirror = os.environ.get(MIRROR)
    for name, commit, path in listed() if mirror else ():
        folder = Path(mirror or "") / name.replace("/", "+") / "repo"
        if folder.is_dir():
            command = ["git", "-C", str(folder), "show", f"{commit}:{path}"]
            shown = subprocess.run(command, check=False, capture_output=True, text=True)
            if shown.returncode == 0:
                yield f"{name}/{path}", parse(shown.stdout)


def report() -> str:
    """Return how many findings public templates have, by verdict, as text."""
    told = {name: list(judged(template, None)) for name, template in templates()}
    if not told:
        return f"public templates: {len(listed())} listed, none read: {MIRROR} names no mirror\n"
    counted = Counter(verdict.split(",")[0] or "not judged" for some in told.values() for _, verdict in some)
    share = counted["wrong"] / max(1, counted.total())
    return (
        f"public templates: {len(told)} of {len(listed())} read, {sum(map(bool, told.values()))} with findings: "
        f"{dict(counted)}, {share:.1%} wrong\n"
    )
