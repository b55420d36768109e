import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import QUICKSTART

pytestmark = pytest.mark.slow


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_synthesis_needs_no_lookup(assembly: Path) -> None:
    manifests = list(assembly.rglob("manifest.json"))
    assert len(manifests) == 2  # of the app and of the stage
    for manifest in manifests:
        assert not json.loads(manifest.read_text()).get("missing")


def test_synthesis_keeps_nothing_in_the_home_directory_but_the_hashes_of_assets_that_the_cdk_caches(
    synthesize: Callable[..., Any], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = synthesize(
        QUICKSTART,
        tmp_path / "cdk.out",
        HOME=str(home),
        cached=False,
    )
    assert done.returncode == 0, done.stderr
    kept = {path.relative_to(home) for path in home.rglob("*") if path.is_file()}
    assert {path.parent for path in kept} <= {Path(".cdk/cache/fingerprints")}


def test_synthesis_twice_produces_the_same_bytes(
    assembly: Path, synthesize: Callable[..., Any], tmp_path: Path
) -> None:
    # Other hash seed, other time zone, other locale; only stack traces and run-time versions could tell them apart.
    again = tmp_path / "cdk.out"
    done = synthesize(QUICKSTART, again, cached=False, PYTHONHASHSEED="4711", TZ="Asia/Kolkata", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert contents(again) == contents(assembly)


def test_a_mistake_in_the_rollout_ends_in_its_line_and_not_in_a_traceback(
    synthesize: Callable[..., Any], tmp_path: Path
) -> None:
    rollout = tmp_path / "rollout.yaml"
    text = QUICKSTART.read_text()
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "nodes: 4 #" in each)
    rollout.write_text(text.replace("nodes: 4 #", "nodes: 0 #"))
    done = synthesize(rollout, tmp_path / "cdk.out")
    assert done.returncode == 2
    assert done.stderr.startswith("UC")
    assert f"rollout.yaml:{line}: waves[0].clusters[0].nodes: got 0" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "cdk.out/manifest.json").exists()
