"""The app with its cache: which clusters are synthesized, around a stand-in for the CDK."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import QUICKSTART
from tests.unit.stacks.synthesis.stand_in import (
    Synthesized,
    cache_in,
    content,
)

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.rehearsal import PURPOSES
from ultracluster_stacks.synthesis import app as synthesis
from ultracluster_stacks.synthesis import native_validation
from ultracluster_stacks.synthesis.app import synthesize


def test_an_unchanged_cluster_is_not_synthesized_again(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1, bb=2, cc=3), tmp_path / "first", cache=cache_in(tmp_path))
    synthesize(clusters(aa=1, bb=2, cc=3), tmp_path / "again", cache=cache_in(tmp_path))
    synthesize(clusters(aa=1, bb=4, cc=3), tmp_path / "changed", cache=cache_in(tmp_path))
    synthesize(clusters(cc=3, aa=1), tmp_path / "fewer", cache=cache_in(tmp_path))

    assert synthesized == [["aa", "bb", "cc"], ["bb"]]
    assert content(tmp_path / "again") == content(tmp_path / "first")
    assert list(_manifest(tmp_path / "changed")) == list(_manifest(tmp_path / "first"))
    assert list(_manifest(tmp_path / "fewer")) == ["assembly-cc-us-east-1", "assembly-aa-us-east-1", "flags"]


def test_without_a_cache_everything_is_synthesized(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "out")
    synthesize(clusters(aa=1), None, cache=cache_in(tmp_path))

    assert synthesized == [["aa"], ["aa"]]
    assert not (tmp_path / "cache").exists()


def test_a_context_without_a_rollout_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CDK_CONTEXT_JSON", "{}")

    assert synthesis.main() == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("given", "then"),
    [
        ("", "--v8-pool-size=1"),
        ("--max-old-space-size=4096", "--max-old-space-size=4096 --v8-pool-size=1"),
        ("--v8-pool-size=8", "--v8-pool-size=8"),
    ],
)
def test_node_gets_one_background_thread_unless_the_user_says_how_many(
    monkeypatch: pytest.MonkeyPatch, given: str, then: str
) -> None:
    monkeypatch.setenv("NODE_OPTIONS", given)
    monkeypatch.setenv("CDK_CONTEXT_JSON", "{}")
    synthesis.main()

    assert os.environ["NODE_OPTIONS"] == then


@pytest.mark.parametrize("processes", ["0", "-1", "two", 1.5, [1]])
@pytest.mark.usefixtures("rollout")
def test_a_number_of_processes_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], processes: Any
) -> None:
    _context(monkeypatch, tmp_path, processes=processes)

    assert synthesis.main() == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.usefixtures("rollout")
def test_an_unknown_purpose_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _context(monkeypatch, tmp_path, purpose="test")

    assert synthesis.main() == 2
    assert capsys.readouterr().err.startswith(
        "error: the context value purpose is 'test'. Allowed: plan, rehearsal"
    )


@pytest.mark.usefixtures("rollout")
def test_what_is_not_bought_is_synthesized_only_for_another_purpose_than_a_deployment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synthesized: Synthesized
) -> None:
    file = tmp_path / "rollout.yaml"
    file.write_text(re.sub(r'"reservation_id": "cr-\w+"', '"order": "december"', file.read_text()))
    codes = []
    for context in [{}, *({"purpose": purpose} for purpose in PURPOSES)]:
        _context(monkeypatch, tmp_path, **context)
        codes.append(synthesis.main())

    assert codes == [2, 0, 0, 0]
    assert synthesized == [["aa"], ["rehearsal-aa"], ["rehearsal-aa"]]


@pytest.mark.parametrize("processes", ["1", 1])
@pytest.mark.usefixtures("rollout")
def test_one_process_is_the_fewest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synthesized: Synthesized, processes: Any
) -> None:
    _context(monkeypatch, tmp_path, processes=processes)

    assert synthesis.main() == 0
    assert len(synthesized) == 1


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ({"cache": "true"}, 1),
        ({}, 1),
        ({"cache": "false"}, 2),
        ({"cache": False}, 2),
        ({"aws:cdk:disable-asset-staging": True}, 2),  # assets are then no part of the assembly
    ],
)
@pytest.mark.usefixtures("rollout")
def test_the_context_decides_about_the_cache(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    synthesized: Synthesized,
    said: dict[str, Any],
    calls: int,
) -> None:
    (tmp_path / "cdk.json").write_text("{}")
    _context(monkeypatch, tmp_path, **said)

    assert (synthesis.main(), synthesis.main()) == (0, 0)
    assert len(synthesized) == calls


@pytest.mark.usefixtures("rollout")
def test_outside_the_folder_of_an_app_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synthesized: Synthesized
) -> None:
    _context(monkeypatch, tmp_path)

    assert synthesis.main() == 0
    assert len(synthesized) == 1
    assert not (tmp_path / ".ultracluster").exists()


def test_warnings_about_templates_are_said_again_of_clusters_from_the_cache(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    synthesized: Synthesized,
    clusters: Callable[..., list[Cluster]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "cdk.json").write_text("{}")
    _context(monkeypatch, tmp_path)
    said = []
    for nodes in ({"checked": 1, "aa": 1}, {"checked": 1, "aa": 2}, {"checked": 1, "aa": 2}, {"aa": 2}):
        clusters(**nodes)
        assert synthesis.main() == 0
        said.append(capsys.readouterr().err)

    line = "warning: UC6453: rollout.yaml:1: waves[0].clusters[0]: checked-us-east-1/Network: reads all.\n"
    assert said == [line, line, line, ""]
    assert synthesized == [["checked", "aa"], ["aa"]]


@pytest.mark.usefixtures("rollout")
def test_the_cdk_validates_what_the_native_engine_does_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synthesized: Synthesized
) -> None:
    """A template of the stand-in is no template."""
    (tmp_path / "cdk.json").write_text("{}")
    _context(monkeypatch, tmp_path, validation="native", other="kept")
    again: list[dict[str, str]] = []

    def run(command: list[str], *, env: dict[str, str], check: bool) -> subprocess.CompletedProcess[str]:
        assert not check
        again.append(env)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(subprocess, "run", run)

    for _ in range(2):  # nothing that did not pass is kept
        monkeypatch.setenv("CDK_VALIDATION", "true")
        assert synthesis.main() == 3
    assert len(synthesized) == 2
    assert json.loads(again[0]["CDK_CONTEXT_JSON"]) == {"rollout": "rollout.yaml", "other": "kept"}
    assert "CDK_VALIDATION" not in again[0]


@pytest.mark.parametrize(("installed", "wanted"), [(False, "true"), (True, "false")])
@pytest.mark.usefixtures("rollout", "synthesized")
def test_the_native_engine_is_used_only_where_it_is_installed_and_templates_are_to_be_validated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool, wanted: str
) -> None:
    _context(monkeypatch, tmp_path, validation="native")
    monkeypatch.setenv("CDK_VALIDATION", wanted)
    monkeypatch.setattr(native_validation, "find_spec", lambda _: installed or None)
    monkeypatch.setattr(subprocess, "run", None)  # the app is not run again

    assert synthesis.main() == 0
    assert os.environ["CDK_VALIDATION"] == wanted


def _context(monkeypatch: pytest.MonkeyPatch, project: Path, **context: Any) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps({"rollout": "rollout.yaml"} | context))
    monkeypatch.setenv("CDK_OUTDIR", str(project / "cdk.out"))


def _manifest(root: Path) -> dict[str, Any]:
    artifacts: dict[str, Any] = json.loads((root / "manifest.json").read_text())["artifacts"]
    return artifacts


class Cache:
    """A cache that has every cluster, and notes by which key each was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get(self, config: str) -> Any:
        self.asked.append(config)
        return object()


def test_another_profile_is_the_same_assembly_and_another_account_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthesis, "merge_assembly", lambda *_: None)
    (cluster,) = load_rollout(QUICKSTART).config.waves[0].clusters
    cache: Any = Cache()
    for changed in ({}, {"profile": "production"}, {"account": "123456789012"}):
        synthesis.synthesize([replace(cluster, **changed)], tmp_path, cache=cache)

    own, other_profile, other_account = cache.asked
    assert own == other_profile
    assert own != other_account
