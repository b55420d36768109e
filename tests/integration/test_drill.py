"""One drill, from the standing order to the report and the end, on both ways into a Capacity Block, with faults on the way."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import botocore.endpoint
import pytest
from tests.integration.drill import CLUSTER, Drill, chosen_faults
from tests.integration.drill_figures import recomputed
from tests.integration.page_account import BLOCK, REGION, Account

from ultracluster_local import LocalAws
from ultracluster_local.services.ec2 import capacity_blocks
from ultracluster_local.services.handlers import hex_id
from ultracluster_runtime.purchasing import ec2_reads
from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver
from ultracluster_runtime.purchasing.search import search_offerings

pytestmark = [pytest.mark.slow, pytest.mark.deep]

SEEDS = [int(seed) for seed in os.environ.get("DRILL_SEEDS", "").split()] or range(40)


@pytest.fixture
def account(local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    account = Account(local_aws, tmp_path, cache=tmp_path.with_name("synthesized"))
    account.replace_surroundings(monkeypatch)
    # Who waits, waits for nothing: the drill moves the clock, and a request is repeated at once.
    at_once = SimpleNamespace(sleep=lambda _: None)
    for module in (botocore.endpoint, ec2_reads):
        monkeypatch.setattr(module, "time", at_once)
    for waits in (Ec2Driver.__init__, search_offerings):
        monkeypatch.setitem(waits.__kwdefaults__, "sleep", at_once.sleep)
    # The first block has the same ID in each life, so that the stacks are synthesized once for each way.
    ids = iter([BLOCK])
    monkeypatch.setattr(
        capacity_blocks, "hex_id", lambda kind: (kind == "cr" and next(ids, "")) or hex_id(kind)
    )
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
            drill.write(Path(place) / f"seed-{seed}")
    minutes = (drill.report or {"minutes": {}})["minutes"]
    with capsys.disabled():
        sys.stdout.write(
            f"\nseed {seed}, {way}: {len(faults)} faults, {len(drill.told)} told, {len(drill.wire.bought)} purchases, "
            f"{minutes.get('training', 0):.1f} of {sum(minutes.values()):.1f} minutes trained, {time.monotonic() - began:.0f} s\n"
        )
    assert drill.faults == {}
    assert drill.untold == {}
    # Nothing was bought twice.
    assert drill.wire.bought == ["PurchaseCapacityBlock", "PurchaseCapacityBlockExtension"]
    (block,) = drill.market.reservations.values()
    assert len(block.extensions) == 1
    # Nothing was lost: each attempt but one whose host is gone writes a checkpoint before it ends, and the next begins there.
    hosts = "host" in faults
    assert [len(written) for _, written in drill.lives] == [0] * hosts + [1, 1, 1]
    steps = [0] * hosts + [0, *(written[0] for _, written in drill.lives[hosts:])]
    assert [first for first, _ in drill.lives] == steps[:-1]
    assert sorted({*steps}) == steps[hosts:]
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
