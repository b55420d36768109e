"""Break what each test of points.toml guards, and show that the test fails: `python -m tests.points.points [O7 ...]`."""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

__all__ = ["POINTS", "ROOT", "main"]

ROOT: Final = Path(__file__).parents[2]
POINTS: Final[list[dict[str, str]]] = tomllib.loads((ROOT / "tests/points/points.toml").read_text("utf-8"))[
    "point"
]

_SOURCES: Final = ("constructs", "stacks", "cli", "localaws")
_LEFT_OUT: Final = (".*", "__pycache__", "node_modules")


def main(chosen: Collection[str]) -> int:
    """Print a row for each point.

    Args:
        chosen: IDs of points; empty for all.

    Returns:
        1 if a test passes although its point is broken, or fails although it is not, else 0.
    """
    points = [point for point in POINTS if not chosen or point["id"] in chosen]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        (copy / "node_modules").symlink_to(ROOT / "node_modules")
        wrong = 0 if _passes(copy, *sorted({point["test"] for point in points})) else 1
        if wrong:
            sys.stdout.write("a test fails although nothing is broken\n")
        for point in points:
            path = copy / point["file"]
            sound = path.read_text("utf-8")
            if sound.count(point["holds"]) != 1:
                raise ValueError(f"{point['id']}: {point['file']} has not once: {point['holds']}")
            path.write_text(sound.replace(point["holds"], point["broken"]), "utf-8")
            unnoticed = _passes(copy, point["test"])
            path.write_text(sound, "utf-8")
            wrong |= unnoticed
            sys.stdout.write(
                f"{point['id']:4} {'NOT NOTICED' if unnoticed else 'fails':11} {point['what']}\n     {point['test']}\n"
            )
            sys.stdout.flush()
    return int(wrong)


def _passes(copy: Path, *tests: str) -> bool:
    variables: dict[str, Any] = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(copy / source) for source in _SOURCES),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=copy, env=variables, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stdout + done.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
