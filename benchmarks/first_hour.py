"""Time the first hour of a newcomer: `make demo`, cold and warm, and the time from `git clone` to your own script.

    python benchmarks/first_hour.py [--write]

A clone has the caches of pip, uv and npm inside, so a new one is cold. The warm run is in a second clone with those three
caches of the first one, and nothing else of it: neither environment nor bytecode nor what jsii has unpacked. The third
run begins with `git clone`, without any cache, types the commands of the first tutorial up to its training, and runs
another script on the cluster instead. `--write` writes the table of docs/evidence/performance.md; do that on a quiet
machine only.
"""

import argparse
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from measure import machine

__all__ = ["BOUNDS", "Run", "own_script", "parts_of", "table", "write"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/evidence/performance.md"
TUTORIAL = ROOT / "docs/tutorials/first-cluster.md"
MARKS = ("<!-- first hour: begin -->", "<!-- first hour: end -->")
MAKE, GIT, BASH = (shutil.which(name) or name for name in ("make", "git", "bash"))
CLONE = (GIT, "clone", "--quiet", "--depth", "1", ROOT.as_uri())
# Seconds from nothing to a trained model.
BOUNDS = {"cold": 60.0, "warm": 45.0}
OWN_SCRIPT = (
    """mkdir own && echo "import os; print('my own script on node', os.environ['NODE_RANK'])" > own/train.py""",
    "ultracluster run train.py --folder own | tee own.log",
    "grep 'my own script on node 0' own.log",
)
PACKAGES = ("pip", "uv", "npm")
# What would lead the clone to the environment or the caches of this one.
OURS = re.compile(
    r"VIRTUAL_ENV|PYTHONPATH|JSII_.*|TMPDIR|UV_CACHE_DIR|PIP_CACHE_DIR|XDG_CACHE_HOME|MAKE.*|MFLAGS"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run.

    Attributes:
        seconds: From its start to its end.
        processor: Processor seconds of all its processes.
        parts: Seconds of each part that it has named, in order.
    """

    seconds: float
    processor: float
    parts: dict[str, float]


def parts_of(output: str) -> dict[str, float]:
    """Return the seconds of each part: the steps of make, then the last words of the demo."""
    made = re.findall(r"^(.+?) \.\.\. (?:.+ \.\.\. )?(\d+) s$", output, re.MULTILINE)
    last = output.rpartition("\nTook ")[2].partition(": ")[2]
    shown = re.findall(r"([a-zA-Z, ]+?) (\d+\.\d)(?:, |\.$)", last, re.MULTILINE)
    return {name: float(seconds) for name, seconds in [*made, *shown]}


def table(runs: dict[str, Run]) -> str:
    """Return the Markdown table of runs."""
    names = list(dict.fromkeys(name for run in runs.values() for name in run.parts))
    rows = [
        [name, *(f"{run.parts[name]:.1f}" if name in run.parts else "" for run in runs.values())]
        for name in names
    ]
    rows += [["**total**", *(f"**{run.seconds:.1f}**" for run in runs.values())]]
    rows += [["bound", *(f"{BOUNDS[name]:.0f}" if name in BOUNDS else "" for name in runs)]]
    rows += [["processor seconds", *(f"{run.processor:.1f}" for run in runs.values())]]
    head = [["part", *(f"{name}, s" for name in runs)], ["---"] * (len(runs) + 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*head, *rows])


def write(page: str, text: str) -> str:
    """Return the page with the text between its marks."""
    before, _, rest = page.partition(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def own_script(page: str) -> str:
    """Return what a newcomer types: the tutorial up to its training, then another script; `ultracluster` is timed."""
    before, _, _ = page.partition("\n$ ultracluster run ")
    steps = re.findall(r"^```bash\n(.*?)\n```$|^\$ (.*?)$", before, re.MULTILINE | re.DOTALL)
    lines = ["set -eo pipefail", 'trap "ultracluster local down" EXIT']
    for command in [*(block or step for block, step in steps), *OWN_SCRIPT]:
        timed = shlex.quote(command.partition(" --")[0]) if command.startswith("ultracluster ") else ""
        lines += ["SECONDS=0", command, f"echo {timed} ... $SECONDS s"] if timed else [command]
    return "\n".join(lines)


def _run(folder: Path, *command: str) -> Run:
    environment = {name: value for name, value in os.environ.items() if not OURS.fullmatch(name)}
    ours = {str(ROOT / ".venv/bin"), str(ROOT / "node_modules/.bin")}
    environment["PATH"] = os.pathsep.join(p for p in environment["PATH"].split(os.pathsep) if p not in ours)
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    seconds, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit(f"{command[0]} failed:\n{process.stdout[-3000:]}")
    processor = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return Run(seconds=seconds, processor=processor, parts=parts_of(process.stdout))


def _clone(folder: Path, name: str) -> Path:
    clone = folder / name
    subprocess.run([*CLONE, clone], check=True)
    return clone


def main() -> None:
    """Run the demo cold and warm, then the tutorial with another script, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    said = f"Measured on {datetime.now(UTC):%Y-%m-%d} with `python benchmarks/first_hour.py`: {machine()}."
    with tempfile.TemporaryDirectory(prefix="first-hour-") as temporary:
        folder = Path(temporary)
        runs = {"cold": _run(cold := _clone(folder, "cold"), MAKE, "demo")}
        warm = _clone(folder, "warm")
        for name in PACKAGES:
            kept = Path(".ultracluster/cache") / name
            if (cold / kept).is_dir():
                (warm / kept).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(cold / kept, warm / kept)
        shutil.rmtree(cold)
        runs["warm"] = _run(warm, MAKE, "demo")
        shutil.rmtree(warm)
        typed = own_script(TUTORIAL.read_text("utf-8"))
        runs["own script"] = _run(folder, BASH, "-c", f"{shlex.join([*CLONE, 'own'])}\ncd own\n{typed}")
    text = f"{said}\n\n{table(runs)}"
    sys.stdout.write(f"{text}\n")
    if arguments.write:
        PAGE.write_text(write(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
