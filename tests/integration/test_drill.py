"""One drill, from the standing order to the report and the end, on both ways into a Capacity Block, with faults on the way."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.drill import CLUSTER, Drill, chosen_faults
from tests.integration.drill_figures import recomputed
from tests.integration.page_account import REGION, Account

from ultracluster_local import LocalAws

pytestmark = [pytest.mark.slow, pytest.mark.deep]

SEEDS = [int(seed) for seed in os.environ.get("DRILL_SEEDS", "").split()] or range(40)


@pytest.fixture
def account(local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    account = Account(local_aws, tmp_path, cache=tmp_path.with_name("synthesized"))
    account.replace_surroundings(monkeypatch)
    yield account
    local_aws.run_jobs(None)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_life_with_twenty_faults_loses_nothing_and_buys_nothing_twice(
    account: Account, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    began, way = time.monotonic(), ("batch", "auto-scaling")[seed % 2]
    faults = chosen_faults(seed)
    drill = Drill(account, way, faults=dict(faults))
    try:
        drill.live()
    finally:
        drill.wire.remove()
        if place := os.environ.get("DRILL_OUTPUT"):
            drill.write(Path(place))
    with capsys.disabled():
        seconds = time.monotonic() - began
        sys.stdout.write(
            f"\nseed {seed}, {way}: {len(faults)} faults, {len(drill.told)} told, {seconds:.0f} s\n"
        )
    assert drill.faults == {}
    assert drill.untold == {}
    # Nothing was bought twice.
    assert drill.wire.bought == ["PurchaseCapacityBlock", "PurchaseCapacityBlockExtension"]
    (block,) = drill.market.reservations.values()
    assert len(block.extensions) == 1
    # Nothing was lost: each attempt begins at a checkpoint that was written, the last one not at the beginning.
    written = {0}.union(*(checkpoints for _, checkpoints in drill.lives))
    assert {first for first, _ in drill.lives} <= written, drill.lives
    assert drill.lives[-1][0] > 0, drill.lives
    # Before both drains; `nodes replace` waits in minutes that pass at once here, so that its checkpoint may come too late.
    assert len([each for each in drill.lives if each[1]]) >= 2
    # A report of the next day is about the whole block.
    start, end = block.period()
    assert [drill.late_report[name] for name in ("start", "end")] == [start.isoformat(), end.isoformat()]
    # Every figure of the report is what the recording says.
    recording = json.loads((account.folder / "recording.json").read_text())
    report = drill.report
    assert (report["cluster"], report["region"]) == (CLUSTER, REGION)
    given = report | {f"minutes.{use}": minutes for use, minutes in report["minutes"].items()}
    figures = recomputed(recording, report["rates"])
    assert figures["minutes.training"]
    assert {name: given[name] for name in figures} == pytest.approx(figures)
