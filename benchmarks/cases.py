"""What is measured: each case is one command, run in turn with all others."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peers import python_of

from rollouts import write_rollout

__all__ = ["Case", "Workshop", "cases"]

ROOT = Path(__file__).parents[1]

# ClusterStage sets it, so that synthesis is reproducible; the apps by hand follow.
_AS_OURS = {"@aws-cdk/aws-iam:minimizePolicies": False}
APPS = ROOT / "benchmarks" / "apps"

_SMALL = 10  # clusters; rollouts of more take part in every second round
_TIMES = 4
_RESOURCES = 98  # of the quick start; the run and a test compare it with its templates


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One command.

    Attributes:
        name: Its key in the results.
        what: What it is, for people.
        command: Program and arguments.
        directory: Where it runs.
        variables: Variables of its environment beside the common ones.
        resources: Resources that it defines; 0 where it defines none.
        clusters: Clusters that it defines.
        share: How many of the rounds it takes part in, as one in so many.
        times: How often it runs in each of them.
        fresh: Folders to empty before each run.
        before: What to do before each run. Default: nothing.
    """

    name: str
    what: str
    command: tuple[str, ...]
    directory: Path = ROOT
    variables: Mapping[str, str] = field(default_factory=dict)
    resources: int = 0
    clusters: int = 0
    share: int = 1
    times: int = 1
    fresh: tuple[Path, ...] = ()
    before: Callable[[], object] | None = None


class Workshop:
    """The folders of a run, and the environment of its commands."""

    def __init__(self, directory: Path) -> None:
        """Use `directory` for everything that is written."""
        self.directory = directory
        self.peers = directory / "peers"
        self.apps = directory / "apps"
        self.project = directory / "project"
        for folder in (self.apps, self.project, directory / "tmp", directory / "out"):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "cdk.json", self.project)

    def environment(self) -> dict[str, str]:
        """Return what every command gets: where programs and caches are, and no credentials."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {
            "PATH": path,
            "HOME": str(self.directory / "tmp"),
            "TMPDIR": str(self.directory / "tmp"),
            "JSII_RUNTIME_PACKAGE_CACHE": "enabled",
            "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(self.directory / "jsii"),
            "LANG": "C.UTF-8",
        }

    def peer(self, name: str) -> dict[str, str]:
        """Return the same for an app of somebody else, with the flag that `cdk init` sets and we do not."""
        return self.cdk(name, **{"@aws-cdk/core:enableAdditionalMetadataCollection": True})

    def cdk(self, name: str, *, validation: bool = False, **context: Any) -> dict[str, str]:
        """Return the variables that the CDK CLI would give an app.

        Args:
            name: Of the case; its assembly is written under this name.
            validation: Whether templates are validated. Default: no.
            **context: Context values beside those of cdk.json.
        """
        flags = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
        return {
            "CDK_OUTDIR": str(self.output(name)),
            "CDK_CONTEXT_JSON": json.dumps(flags | _AS_OURS | context),
            **({} if validation else {"CDK_VALIDATION": "false"}),
        }

    def output(self, name: str) -> Path:
        """Return where the assembly of a case is written."""
        return self.directory / "out" / name

    def rollout(self, clusters: int) -> Path:
        """Write a rollout like the quick start, with this many clusters."""
        return write_rollout(self.project / f"rollout-{clusters}.yaml", clusters)

    def changed_rollout(self, clusters: int) -> Path:
        """Write the same with a last cluster that there never was before."""
        return write_rollout(self.project / "changed.yaml", clusters, last_block=time.time_ns() % 16**17)


def cases(shop: Workshop, missing: Mapping[str, str], *, quick: bool) -> list[Case]:
    """Return all cases.

    Args:
        shop: Where they run.
        missing: Peers that could not be installed; their cases are left out.
        quick: Only what takes a second or two each.
    """
    found = [*_command_line(shop), *_synthesis(shop, quick=quick), *_growth(shop, quick=quick), *_peers(shop)]
    return [case for case in found if case.name.split(" ")[0] not in missing]


def _ours(shop: Workshop, name: str, what: str, clusters: int, **options: Any) -> Case:
    share, times, fresh = options.pop("share", 1), options.pop("times", 1), options.pop("fresh", ())
    rollout = options.pop("rollout", None) or shop.rollout(clusters)
    validation, before = options.pop("validation", False), options.pop("before", None)
    return Case(
        name=name,
        what=what,
        command=(sys.executable, str(ROOT / "app.py")),
        directory=shop.project,
        variables=shop.cdk(name, validation=validation, rollout=str(rollout), **options),
        resources=_RESOURCES * clusters,
        clusters=clusters,
        share=share,
        times=times,
        fresh=(*fresh, shop.output(name)),
        before=before,
    )


def _command_line(shop: Workshop) -> Iterator[Case]:
    yield Case(name="python", what="Python that does nothing", command=(sys.executable, "-c", "pass"))
    command = str(Path(sys.executable).parent / "ultracluster")
    yield Case(name="help", what="`ultracluster --help`", command=(command, "--help"))
    yield Case(
        name="validate 90",
        what="`ultracluster validate` of 90 clusters",
        command=(command, "validate", str(shop.rollout(90))),
    )


def _synthesis(shop: Workshop, *, quick: bool) -> Iterator[Case]:
    # Two promises are ratios of these three, within a few percent, which is what one run differs from the next.
    times = 1 if quick else _TIMES
    yield Case(
        name="hello",
        what="hello world, Python CDK",
        command=(sys.executable, str(APPS / "hello.py")),
        variables=shop.peer("hello"),
        resources=1,
        times=times,
    )
    quickstart = ROOT / "stacks/rollouts/quickstart.yaml"
    yield _ours(shop, "ours", "our quick start", 1, rollout=quickstart, cache="false", times=times)
    yield _ours(shop, "ours known", "our quick start, unchanged since the last time", 1, rollout=quickstart)
    yield _ours(
        shop,
        "ours validated",
        "our quick start, templates validated",
        1,
        rollout=quickstart,
        cache="false",
        validation=True,
    )
    for language, program in (("python", sys.executable), ("javascript", "node")):
        name = f"{language} by hand" if language == "javascript" else "by hand"
        suffix = "py" if language == "python" else "js"
        yield Case(
            name=name,
            what=f"the same resources by hand with L2 constructs, {language.capitalize()}",
            command=(program, str(shop.apps / f"by_hand.{suffix}"), "1", str(shop.apps / "code")),
            variables=shop.peer(name) | {"NODE_PATH": str(shop.peers / "javascript" / "node_modules")},
            resources=_RESOURCES,
            clusters=1,
            times=times if language == "python" else 1,
            fresh=(shop.output(name),),
        )


def _growth(shop: Workshop, *, quick: bool) -> Iterator[Case]:
    sizes = (3, 10) if quick else (3, 10, 30, 90)
    for size in sizes:
        yield _ours(
            shop,
            f"ours {size}",
            f"{size} clusters, one process",
            size,
            cache="false",
            processes=1,
            share=1 if size <= _SMALL else 2,
        )
    most = sizes[-1]
    yield _ours(
        shop, f"ours {most} shared", f"{most} clusters, processes share them", most, cache="false", share=2
    )
    yield _ours(shop, f"ours {most} known", f"{most} clusters, none changed", most)
    yield _ours(
        shop,
        f"ours {most} one changed",
        f"{most} clusters, one changed",
        most,
        rollout=shop.changed_rollout(most),
        before=lambda: shop.changed_rollout(most),
    )


def _peers(shop: Workshop) -> Iterator[Case]:
    templates = sorted(str(path) for path in shop.output("ours").rglob("*.template.json"))
    yield Case(
        name="troposphere",
        what="the same resources, troposphere",
        command=(
            str(python_of(shop.peers, "troposphere")),
            str(APPS / "troposphere_app.py"),
            *templates,
            str(shop.output("troposphere.json")),
        ),
        resources=_RESOURCES,
        clusters=1,
    )
    yield Case(
        name="parallelcluster",
        what="AWS ParallelCluster's template build",
        command=(
            str(python_of(shop.peers, "parallelcluster")),
            str(APPS / "parallelcluster_app.py"),
            str(shop.output("parallelcluster.json")),
        ),
        resources=_resources(shop.output("parallelcluster.json")),
        clusters=1,
    )


def _resources(templates: Path) -> int:
    """Count the resources of a list of templates; none before the first run."""
    if not templates.exists():
        return 0
    return sum(len(each["Resources"]) for each in json.loads(templates.read_text(encoding="utf-8")))
