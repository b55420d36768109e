"""The same input gives the same bytes on every machine: templates, manifests and the files of assets."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment
from tests.deep.conftest import Tried
from tests.golden.configurations import configurations
from tests.other_machine import another_machine

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
SOURCES = ("constructs", "stacks")

PROGRAM = """
import sys
from pathlib import Path
from ultracluster_stacks.synthesis.in_process import synthesize
from ultracluster_stacks.config import load_rollout
rollouts = [load_rollout(path).config for path in sys.argv[2:]]
clusters = [cluster for rollout in rollouts for wave in rollout.waves for cluster in wave.clusters]
synthesize(clusters, Path(sys.argv[1]))
"""
CONTEXT = json.dumps(json.loads((ROOT / "cdk.json").read_text())["context"])

Content = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What differs from one machine to the next."""

    variables: Mapping[str, str] = field(default_factory=dict)
    folder: str = "."
    umask: int = 0o022
    moved: bool = False
    """The sources are a copy elsewhere, which nobody can write to."""


MACHINES = {
    "hash seed 0": Machine(variables={"PYTHONHASHSEED": "0"}),
    "hash seed 1": Machine(variables={"PYTHONHASHSEED": "1"}),
    "a random hash seed": Machine(variables={"PYTHONHASHSEED": "random"}),
    "locale C": Machine(variables={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "locale C.UTF-8": Machine(variables={"LC_ALL": "C.UTF-8"}),
    "locale tr_TR.UTF-8": Machine(variables={"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
    "Kathmandu": Machine(variables={"TZ": "Asia/Kathmandu"}),
    "St. John's": Machine(variables={"TZ": "America/St_Johns"}),
    "Apia": Machine(variables={"TZ": "Pacific/Apia"}),
    "another folder": Machine(folder="a folder/with spaces"),
    "another home": Machine(variables={"HOME": "/nonexistent"}),
    "another user": Machine(variables={"USER": "ayşe", "LOGNAME": "ayşe", "HOSTNAME": "elsewhere"}),
    "files for oneself only": Machine(umask=0o077),
    "files for everybody": Machine(umask=0o000),
    "another order of files, another year": Machine(variables=another_machine()),
    "sources elsewhere, which cannot be written": Machine(moved=True),
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Content:
    return synthesized(tmp_path_factory.mktemp("here"), Machine())


@pytest.mark.parametrize("name", MACHINES)
def test_same_bytes_on_another_machine(here: Content, tmp_path: Path, tried: Tried, name: str) -> None:
    tried("determinism", f"{len(here)} files: {name}")

    assert different(here, synthesized(tmp_path, MACHINES[name])) == []


def test_same_bytes_from_two_processes_at_one_time(here: Content, tmp_path: Path, tried: Tried) -> None:
    tried("determinism", f"{len(here)} files: two processes at one time")
    for name in "ab":
        (tmp_path / name).mkdir()

    with ThreadPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(lambda name: synthesized(tmp_path / name, Machine()), "ab"))

    assert [different(here, each) for each in found] == [[], []]


def synthesized(folder: Path, machine: Machine) -> Content:
    """Synthesize all rollouts that are kept, in a process of its own, and give the hash of each file."""
    variables = dict(machine.variables)
    place = folder / machine.folder
    place.mkdir(parents=True, exist_ok=True)
    sources = folder / "sources"
    if machine.moved:
        before = copied_sources(sources)
        variables["PYTHONPATH"] = os.pathsep.join(str(sources / name) for name in SOURCES)
    rollouts = [path for path in configurations().values() if path.suffix == ".yaml"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder / "cdk.out", *rollouts],
        env=bare_environment(CDK_CONTEXT_JSON=CONTEXT) | variables,
        cwd=place,
        umask=machine.umask,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if machine.moved:
        assert contents(sources) == before  # also root, who may write everywhere, has not
    found = contents(folder / "cdk.out")
    assert len(found) > 100
    assert any("asset." in name for name in found)
    return found


def copied_sources(folder: Path) -> Content:
    for name in SOURCES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    found = contents(folder)
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return found


def contents(folder: Path) -> Content:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def different(one: Content, other: Content) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
