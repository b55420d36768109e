"""The app with its cache: which clusters are synthesized, around a stand-in for the CDK."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ultracluster_stacks.config import ClusterConfig, load_rollout
from ultracluster_stacks.synthesis import app as synthesis
from ultracluster_stacks.synthesis.app import read_context, synthesize
from ultracluster_stacks.synthesis.assembly.cache import AssemblyCache

Synthesized = list[list[str]]


@pytest.fixture
def synthesized(monkeypatch: pytest.MonkeyPatch) -> Synthesized:
    """Names of the clusters that the CDK was asked for, call by call."""
    asked: Synthesized = []

    def stand_in(clusters: Sequence[ClusterConfig], directory: Path | None) -> None:
        asked.append([each.name for each in clusters])
        if directory:
            _write_assembly(clusters, directory)

    monkeypatch.setattr(synthesis, "_synthesize_in_process", stand_in)
    return asked


@pytest.fixture
def clusters(tmp_path: Path) -> Callable[..., list[ClusterConfig]]:
    def read(**nodes: int) -> list[ClusterConfig]:
        rollout = tmp_path / "rollout.yaml"
        rollout.write_text(
            json.dumps(
                {
                    "version": 1,
                    "waves": [{"name": "only", "clusters": [_cluster(*each) for each in nodes.items()]}],
                }
            )
        )
        return list(load_rollout(rollout).config.waves[0].clusters)

    return read


@pytest.fixture
def rollout(clusters: Callable[..., list[ClusterConfig]]) -> None:
    """A rollout file of one cluster."""
    clusters(aa=1)


def test_an_unchanged_cluster_is_not_synthesized_again(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    synthesize(clusters(aa=1, bb=2, cc=3), tmp_path / "first", cache=_cache(tmp_path))
    synthesize(clusters(aa=1, bb=2, cc=3), tmp_path / "again", cache=_cache(tmp_path))
    synthesize(clusters(aa=1, bb=4, cc=3), tmp_path / "changed", cache=_cache(tmp_path))
    synthesize(clusters(cc=3, aa=1), tmp_path / "fewer", cache=_cache(tmp_path))

    assert synthesized == [["aa", "bb", "cc"], ["bb"]]
    assert _content(tmp_path / "again") == _content(tmp_path / "first")
    assert list(_manifest(tmp_path / "changed")) == list(_manifest(tmp_path / "first"))
    assert list(_manifest(tmp_path / "fewer")) == ["assembly-cc-us-east-1", "assembly-aa-us-east-1", "flags"]


def test_another_fingerprint_knows_nothing(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    for fingerprint in ("one", "two"):
        cache = AssemblyCache(tmp_path / "cache", fingerprint=fingerprint)
        synthesize(clusters(aa=1), tmp_path / fingerprint, cache=cache)

    assert synthesized == [["aa"], ["aa"]]


def test_a_cluster_with_a_missing_asset_is_synthesized_again(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "first", cache=_cache(tmp_path))
    for entry in (tmp_path / "cache").iterdir():
        if b"code of aa" in entry.read_bytes():
            entry.unlink()
    synthesize(clusters(aa=1), tmp_path / "again", cache=_cache(tmp_path))

    assert synthesized == [["aa"], ["aa"]]
    assert _content(tmp_path / "again") == _content(tmp_path / "first")


def test_a_damaged_cache_costs_time_only(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    synthesize(clusters(aa=1, bb=2), tmp_path / "first", cache=_cache(tmp_path))
    for entry in (tmp_path / "cache").iterdir():
        entry.write_bytes(entry.read_bytes()[:-1])
    synthesize(clusters(aa=1, bb=2), tmp_path / "again", cache=_cache(tmp_path))

    assert synthesized == [["aa", "bb"], ["aa", "bb"]]
    assert _content(tmp_path / "again") == _content(tmp_path / "first")


def test_what_validation_warned_of_is_said_again_and_the_other_clusters_are_kept(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    for name in ("first", "again"):
        synthesize(clusters(aa=1, warned=1), tmp_path / name, cache=_cache(tmp_path))

    assert synthesized == [["aa", "warned"], ["warned"]]
    report = json.loads((tmp_path / "again" / "validation-report.json").read_text())
    assert report["pluginReports"] == [_warning("warned-us-east-1/S/T")]


def test_what_is_said_of_several_clusters_is_said_of_each_once(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "first", cache=_cache(tmp_path))
    synthesize(clusters(aa=1, warned=1, warned2=1), tmp_path / "out", cache=_cache(tmp_path), processes=1)

    assert synthesized == [["aa"], ["warned", "warned2"]]
    report = json.loads((tmp_path / "out" / "validation-report.json").read_text())
    paths = ("warned-us-east-1/S/T", "warned2-us-east-1/S/T")
    assert report["pluginReports"] == [_warning(each) for each in paths]


def test_what_validation_says_without_naming_a_construct_keeps_every_cluster_out_of_the_cache(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    for name in ("first", "again"):
        synthesize(clusters(aa=1, template=1), tmp_path / name, cache=_cache(tmp_path))

    assert synthesized == [["aa", "template"], ["aa", "template"]]


def test_without_a_cache_everything_is_synthesized(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "out")
    synthesize(clusters(aa=1), None, cache=_cache(tmp_path))

    assert synthesized == [["aa"], ["aa"]]
    assert not (tmp_path / "cache").exists()


def test_what_a_cluster_left_behind_before_goes_with_its_new_part(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[ClusterConfig]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "out", cache=_cache(tmp_path))
    (tmp_path / "out" / "assembly-aa-us-east-1" / "old.template.json").write_text("{}")
    synthesize(clusters(aa=1), tmp_path / "out", cache=_cache(tmp_path))

    assert len(synthesized) == 1
    assert not (tmp_path / "out" / "assembly-aa-us-east-1" / "old.template.json").exists()


def test_a_context_without_a_rollout_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CDK_CONTEXT_JSON", "{}")

    assert synthesis.main() == 2
    assert capsys.readouterr().err.startswith("UC9102: ")


@pytest.mark.parametrize("processes", ["0", "-1", "two", 1.5, [1]])
@pytest.mark.usefixtures("rollout")
def test_a_number_of_processes_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], processes: Any
) -> None:
    _context(monkeypatch, tmp_path, processes=processes)

    assert synthesis.main() == 2
    assert capsys.readouterr().err.startswith("UC9103: ")


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


def _context(monkeypatch: pytest.MonkeyPatch, project: Path, **context: Any) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps({"rollout": "rollout.yaml"} | context))
    monkeypatch.setenv("CDK_OUTDIR", str(project / "cdk.out"))


def _cache(tmp_path: Path) -> AssemblyCache:
    return AssemblyCache(tmp_path / "cache", fingerprint="one")


def _cluster(name: str, nodes: int) -> dict[str, Any]:
    return {
        "name": name,
        "region": "us-east-1",
        "zone_id": "use1-az6",
        "instance_type": "trn1.32xlarge",
        "nodes": nodes,
        "image_id": "ami-0123456789abcdef0",
        "capacity": {"reservation_id": f"cr-{ord(name[0]):017x}"},
    }


def _write_assembly(clusters: Sequence[ClusterConfig], root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    artifacts: dict[str, Any] = {}
    for each in clusters:
        stage = f"{each.name}-{each.region}"
        directory = root / f"assembly-{stage}"
        directory.mkdir(exist_ok=True)
        (directory / "manifest.json").write_text(json.dumps({"nodes": each.nodes}))
        (directory / "S.assets.json").write_text(
            json.dumps(
                {
                    "files": {
                        "x": {"source": {"path": f"../asset.{each.name}"}},
                        "t": {"source": {"path": "t"}},
                    }
                }
            )
        )
        (root / f"asset.{each.name}").mkdir(exist_ok=True)
        (root / f"asset.{each.name}" / "code.py").write_text(f"code of {each.name}")
        artifacts[f"assembly-{stage}"] = {
            "type": "cdk:cloud-assembly",
            "properties": {"directoryName": f"assembly-{stage}", "displayName": stage},
        }
    warned = [f"{each.name}-{each.region}/S/T" for each in clusters if each.name.startswith("warned")]
    findings: list[Any] = [_warning(*warned)] if warned else []
    if any(each.name == "template" for each in clusters):
        findings.append({"pluginName": "p", "violations": [{"ruleName": "r"}]})
    manifest = {"version": "55.0.0", "artifacts": artifacts | {"flags": {"type": "other"}}}
    for name, value in (("manifest.json", manifest), ("validation-report.json", {"pluginReports": findings})):
        (root / name).write_text(json.dumps(value, indent=2))
    (root / "cdk.out").write_text('{"version":"55.0.0"}')


def _warning(*paths: str) -> dict[str, Any]:
    constructs = [{"constructPath": path, "constructFqn": "aws-cdk-lib.aws_sns.Topic"} for path in paths]
    violation = {"ruleName": "r", "severity": "warning", "violatingConstructs": constructs}
    return {"pluginName": "p", "conclusion": "success", "violations": [violation]}


def _manifest(root: Path) -> dict[str, Any]:
    artifacts: dict[str, Any] = json.loads((root / "manifest.json").read_text())["artifacts"]
    return artifacts


def _content(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_reads_context_from_the_variable_and_the_overflow_file(tmp_path: Path) -> None:
    overflow = tmp_path / "overflow.json"
    overflow.write_text(json.dumps({"b": 3, "c": 4}))

    assert read_context({}) == {}
    assert read_context({"CDK_CONTEXT_JSON": '{"a": 1, "b": 2}'}) == {"a": 1, "b": 2}
    assert read_context(
        {"CDK_CONTEXT_JSON": '{"a": 1, "b": 2}', "CONTEXT_OVERFLOW_LOCATION_ENV": str(overflow)}
    ) == {"a": 1, "b": 3, "c": 4}
