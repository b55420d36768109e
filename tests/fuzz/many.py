"""Very many damaged files through `ultracluster validate`, in this process: python tests/fuzz/many.py SEED COUNT FOLDER.

Prints one JSON document: how it ended, how long it took, how much memory, and every file on which it did not end as it
must: with 0, or with 2 and lines with codes of ours and nothing else.
"""

import contextlib
import io
import json
import re
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

from tests.fuzz.mutations import damaged  # noqa: E402 - its folder is found by what stands above

from ultracluster_cli.main import main  # noqa: E402

__all__ = ["sources", "tried"]

MOST_SECONDS = 2.0
_LINE = re.compile(r"(?:(?:warning: )?UC[0-9]{4}|error): .+[.?]")


def sources() -> list[str]:
    """The ready rollouts, without comments."""
    return [
        re.sub(r"(?m)^#.*\n| +#.*$", "", path.read_text("utf-8"))
        for path in sorted((_ROOT / "stacks/rollouts").glob("*.yaml"))
    ]


def judged(exit_code: int, out: str, err: str) -> str:
    """What is wrong with an outcome; nothing for what must be."""
    lines = err.splitlines()
    if exit_code not in {0, 2}:
        return f"it ended with {exit_code}"
    if odd := [
        line for line in lines if not _LINE.fullmatch(line) or not line.isascii() or not line.isprintable()
    ]:
        return f"it said {odd[0]!r}"
    if (exit_code == 2) != any(not line.startswith("warning: ") for line in lines):
        return f"it ended with {exit_code} and said {lines}"
    if exit_code == 2 and out:
        return "it printed a result of what it refused"
    if any("cannot be used here" in line for line in lines):
        return "it had no words of ours for an error"  # of pydantic
    return ""


def tried(path: Path, content: bytes) -> tuple[int, str, float]:
    """Validate a file: the exit code, what was wrong, and the seconds that it took."""
    path.write_bytes(content)
    out, err = io.StringIO(), io.StringIO()
    began = time.process_time()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            exit_code = main(["validate", str(path), "--json"])
    except BaseException as error:  # noqa: BLE001 - whatever it is, a user would see it
        return 1, f"it raised {error!r}", time.process_time() - began
    seconds = time.process_time() - began
    wrong = judged(exit_code, out.getvalue(), err.getvalue())
    if seconds > MOST_SECONDS:
        wrong = wrong or f"it took {seconds:.1f} s"
    return exit_code, wrong, seconds


def most_mib() -> float:
    """The most memory that this process has had, in MiB."""
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # bytes, on macOS
    # Not ru_maxrss, which counts what the process that started this one had.
    return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) / 1024


def run(seed: int, count: int, folder: Path) -> dict[str, Any]:
    """Try `count` files made from `seed`, in a folder that holds nothing else."""
    random, texts = Random(seed), sources()  # noqa: S311 - it guards nothing
    path = folder / "rollout.yaml"
    ends: Counter[int] = Counter()
    failures, slowest = [], 0.0
    began = time.process_time()
    for number in range(count):
        content = damaged(texts, random)
        exit_code, wrong, seconds = tried(path, content)
        ends[exit_code] += 1
        slowest = max(slowest, seconds)
        if wrong:
            failures.append({"number": number, "wrong": wrong, "file": content.decode("latin-1")[:4000]})
    return {
        "seconds": time.process_time() - began,
        "slowest": slowest,
        "ends": dict(ends),
        "mib": most_mib(),
        "written": sorted(each.name for each in folder.iterdir()),
        "failures": failures,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))) + "\n")
