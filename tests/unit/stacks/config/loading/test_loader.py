"""Loading: the result, what it costs, and suppressed warnings, which are on record and not shown."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.stacks.config.conftest import VALID

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.cluster_rules import cluster_rules, rollout_rules
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.rules import At
from ultracluster_stacks.config import LoadedRollout, load_rollout
from ultracluster_stacks.config.loading import loader

_ROOT = Path(__file__).parents[5]


def test_the_quick_start_loads_without_warnings() -> None:
    loaded = load_rollout(_ROOT / "stacks" / "rollouts" / "quickstart.yaml")

    (wave,) = loaded.config.waves
    (cluster,) = wave.clusters
    (job,) = cluster.jobs
    assert loaded.warnings == ()
    assert (cluster.instance_type, cluster.nodes, cluster.zone_id) == ("trn2.48xlarge", 4, "use2-az3")
    assert cluster.capacity.reservation_id == "cr-0123456789abcdef0"
    assert cluster.account is None
    assert (job.name, job.nodes) == ("pretrain", 4)


def test_the_rules_run_once_for_each_cluster_and_once_for_the_rollout(
    load: Callable[..., LoadedRollout], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def count(cluster: Cluster) -> Iterator[At]:
        seen.append(cluster.name)
        return iter(())

    def count_rollout(_: object) -> Iterator[At]:
        seen.append("rollout")
        return iter(())

    monkeypatch.setattr(cluster_rules, "_CLUSTER_RULES", (count,))
    monkeypatch.setattr(rollout_rules, "_repeated_clusters", count_rollout)
    head, cluster = VALID.split("    clusters:\n")
    second = cluster.replace("name: train", "name: second").replace("cr-0", "cr-1")

    load(text=f"{head}    clusters:\n{cluster}{second}")

    assert seen == ["train", "second", "rollout"]


def test_names_the_file_as_it_was_given(write: Callable[[str], Path], tmp_path: Path) -> None:
    write("version: 1\n")
    with pytest.raises(FindingsError, match=f"^UC1021: {tmp_path}/rollout.yaml:1: waves: "):
        load_rollout(tmp_path / "rollout.yaml")


def _many(valid: str, count: int) -> str:
    head, cluster = valid.split("    clusters:\n")
    clusters = "".join(
        cluster.replace("name: train", f"name: train-{n}").replace("abcdef0", f"{n:07x}")
        for n in range(count)
    )
    return f"{head}    clusters:\n{clusters}"


def test_ninety_wrong_clusters_are_reported_in_half_a_second(
    write: Callable[[str], Path], valid: str
) -> None:
    path = write(_many(valid, 90).replace("nodes: 4", "nodes: 0").replace("market_type:", "market_typ:"))

    started = time.process_time()
    with pytest.raises(FindingsError) as caught:
        load_rollout(path)
    took = time.process_time() - started

    assert len(caught.value.findings) == 180
    assert took < 0.5


def test_refuses_what_defaults_would_multiply(write: Callable[[str], Path]) -> None:
    tags = ", ".join(f"k{n}: '!'" for n in range(5000))
    text = (
        "version: 1\ndefaults: {tags: {"
        + tags
        + "}}\nwaves: [{name: first, clusters: ["
        + "{}, " * 1000
        + "]}]\n"
    )

    with pytest.raises(FindingsError) as caught:
        load_rollout(write(text))

    (finding,) = caught.value.findings
    assert finding.code == "UC1018"
    assert "1,000 clusters with 5,002 values under defaults" in str(finding)


def test_takes_a_rollout_of_the_largest_size_and_no_more(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "LARGEST_ROLLOUT", 500)

    def codes(values: int) -> set[str]:
        # The top, version, waves, and the items of a list that is no list of waves.
        with pytest.raises(FindingsError) as caught:
            load_rollout(write("version: 1\nwaves: [" + "1," * (values - 3) + "]\n"))
        return {finding.code for finding in caught.value.findings}

    assert codes(501) == {"UC1018"}
    assert codes(500) == {"UC1022"}


Findings = Callable[..., list[Finding]]
Load = Callable[..., LoadedRollout]
_CLUSTER = "waves[0].clusters[0]"
THREE_NODES = ("nodes: 4", "nodes: 3")  # UC4103: blocks are usually offered in powers of two
REASON = "the block has three nodes by order december"
SECOND_CLUSTER = """\
      - name: other
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 3
        capacity: {reservation_id: cr-0fedcba9876543210}
        notify: [ml@example.com]
"""


def suppress(code: str = "UC4103", reason: str = REASON) -> tuple[str, str]:
    return "        nodes:", f"        suppress: {{{code}: {reason}}}\n        nodes:"


def test_a_suppressed_warning_is_on_record_and_not_shown(load: Load) -> None:
    assert [each.code for each in load(THREE_NODES).warnings] == ["UC4103"]
    loaded = load(suppress(), THREE_NODES)
    assert loaded.warnings == ()
    (kept,) = loaded.suppressed
    assert (kept.finding.code, kept.finding.path, kept.reason) == ("UC4103", f"{_CLUSTER}.nodes", REASON)


def test_it_holds_for_its_cluster_only(load: Load, valid: str) -> None:
    loaded = load(suppress(), THREE_NODES, text=valid + SECOND_CLUSTER)
    assert [(each.code, each.path) for each in loaded.warnings] == [("UC4103", "waves[0].clusters[1].nodes")]
    assert len(loaded.suppressed) == 1


def test_in_the_defaults_it_holds_for_all_and_has_to_hit_one(load: Load, valid: str) -> None:
    defaults = ("defaults:\n", f"defaults:\n  suppress: {{UC4103: {REASON}}}\n")
    loaded = load(defaults, text=valid + SECOND_CLUSTER)
    assert loaded.warnings == ()
    assert [each.finding.path for each in loaded.suppressed] == ["waves[0].clusters[1].nodes"]


def test_a_doubt_of_the_yaml_reader_is_suppressed_too(load: Load) -> None:
    variable = ("{NEURON_RT_LOG_LEVEL: INFO}", "{ROOT: '${HOME}'}")
    assert load(suppress("UC1017", "the entry point fills it in"), variable).warnings == ()
    job = "{name: other, image: 'x:1', command: [x], environment: {ROOT: '${HOME}'}}"
    in_defaults = (
        "defaults:\n",
        f"defaults:\n  suppress: {{UC1017: filled in later}}\n  jobs: [{job}]\n",
    )
    (kept,) = load(in_defaults).suppressed
    assert kept.finding.path == "defaults.jobs[0].environment.ROOT"


def test_never_shows_a_credential(findings: Findings) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"

    for old, new in [
        ("name: train", f"name: {secret}"),
        ("name: train", f"{secret}: train"),
        ("{team: research}", f'{{"{secret}": x}}'),
        ("10.0.0.0/16", f'"{secret}"'),
        ("nodes: 4", f"nodes: &{secret} 4"),
        ("nodes: 4", f"nodes: !{secret} 4"),
    ]:
        found = findings((old, new))
        assert found
        assert secret not in "\n".join(map(str, found))
        assert secret not in repr(found)
