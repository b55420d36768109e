"""The run itself: its plan, how it goes on after it was ended, and that what is compared is equal."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench import _plan, _Runs
from cases import APPS, Case, Workshop, cases
from equality import differences, resources_of
from generate import write_apps
from report import shows
from tests.bare_environment import bare_environment


def test_rounds_take_all_cases_in_turn() -> None:
    one, two = (Case(name=name, what="", command=(), share=share) for name, share in (("one", 1), ("two", 2)))

    assert [(number, case.name) for number, case in _plan([one, two], 3)] == [
        (0, "one"),
        (0, "two"),
        (1, "one"),
        (2, "one"),
        (2, "two"),
    ]


def test_what_runs_often_takes_turns_in_each_round() -> None:
    one = Case(name="one", what="", command=())
    often, rare = (
        Case(name=name, what="", command=(), times=2, share=share)
        for name, share in (("often", 1), ("rare", 2))
    )

    assert [(number, case.name) for number, case in _plan([often, one, rare], 2)] == [
        (0, "often"),
        (0, "one"),
        (0, "rare"),
        (1, "often"),
        (1, "rare"),
        (2, "often"),
        (1, "one"),
        (3, "often"),
    ]


def test_an_ended_run_goes_on_while_the_source_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    _Runs(path, "source", fresh=False).add("hello", 0, {"cpu": 1})

    assert _Runs(path, "source", fresh=False).of("hello") == [{"cpu": 1}]
    assert not _Runs(path, "source", fresh=True).known("hello", 0)
    _Runs(path, "source", fresh=False).add("hello", 0, {"cpu": 1})
    assert not _Runs(path, "changed", fresh=False).known("hello", 0)


def test_a_peer_that_is_missing_is_left_out_and_the_promises_need_none(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    everything = {case.name for case in cases(shop, {}, quick=False)}
    left = {case.name for case in cases(shop, {"parallelcluster": "", "javascript": ""}, quick=False)}

    assert everything - left == {"parallelcluster", "javascript by hand"}
    cost = {"cpu": 1.0, "node_mib": 1.0, "clusters": 1, "resources": 1}
    sizes = {f"ours {size}": {**cost, "clusters": size} for size in (3, 10, 30, 90)}
    scripts = {"search": [1.0, 1.0], "validation of 90 clusters": [1.0]}
    local = {f"local AWS, {size}": [size, size] for size in (1, 3)}
    assert shows({"cases": dict.fromkeys(left, cost) | sizes, "scripts": scripts | local})


@pytest.mark.process
def test_the_search_calls_all_regions_concurrently(tmp_path: Path) -> None:
    everywhere, alone, calls = _printed("search.py", "0.05", directory=tmp_path)

    assert calls == 30 * 12
    assert alone >= 12 * 0.05
    assert everywhere < 10 * alone  # one Region after the other would be 30; a busy machine needs room


@pytest.mark.process
def test_reading_a_large_rollout_is_timed(tmp_path: Path) -> None:
    (seconds,) = _printed("validate.py", str(Workshop(tmp_path).rollout(3)), directory=tmp_path)

    assert 0 < seconds < 10


def _printed(script: str, *arguments: str, directory: Path) -> list[float]:
    done = subprocess.run(
        [sys.executable, str(APPS / script), *arguments],
        cwd=directory,
        text=True,
        capture_output=True,
        check=True,
    )
    return [float(word) for word in done.stdout.split()]


@pytest.mark.synth
def test_the_app_by_hand_defines_the_resources_of_our_quick_start(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    every = {case.name: case for case in cases(shop, {}, quick=True)}
    ours = _assembly(shop, every["ours"])
    write_apps(ours, shop.apps, region="us-east-2")
    (asset,) = ours.glob("asset.*")
    shutil.copytree(asset, shop.apps / "code")

    by_hand = _assembly(shop, every["by hand"])

    assert differences(ours, by_hand) == []
    assert len(resources_of(ours)) == every["ours"].resources
    text = (shop.apps / "by_hand.py").read_text()
    assert all(
        f"{name}(" in text for name in ("lambda_.Function", "s3_.Bucket", "iam_.Role", "ec2_.SecurityGroup")
    )


def _assembly(shop: Workshop, case: Case) -> Path:
    done = subprocess.run(
        case.command,
        env=bare_environment() | dict(case.variables),
        cwd=case.directory,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return shop.output(case.name)
