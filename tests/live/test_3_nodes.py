"""Tier 3: two trn2.48xlarge for a day, with sixteen EFA interfaces each."""

import datetime as dt
import json
import re

from tests.live.cluster import Cluster, deploy, image_id
from tests.live.costs import block, cluster, standing
from tests.live.question import live as question
from tests.live.session import Live
from tests.live.test_2_block import HOLD, buy, check_launch, keep_block, moment

TYPE, COUNT, REGION = "trn2.48xlarge", 2, "us-east-2"
CARD_GB_PER_S = 25.0


@question(
    "L118",
    tier=3,
    cost=block(TYPE, REGION, count=COUNT),
    minutes=35,
    stands=True,
    phase="start",
    buys=1,
)
def test_a_block_of_large_nodes_is_bought(live: Live) -> None:
    """Does a purchase of two trn2.48xlarge carry its tags?

    Repeats L31 with two trn2.48xlarge in us-east-2. Other questions of this tier use the block.
    """
    keep_block(live, buy(live, REGION, TYPE, COUNT), REGION)


@question(
    "L119",
    tier=3,
    cost=standing(cluster(), hours=30),
    minutes=150,
    needs=["L118"],
    stands=True,
    phase="during",
    nodes=COUNT,
)
def test_nodes_with_sixteen_cards_start_in_the_block(live: Live) -> None:
    """Do nodes with sixteen EFA interfaces start in the block, join and run a job?

    Repeats L1 to L3 with two trn2.48xlarge. Passes when both nodes run in the block, and the boot log has 16 of 16 Neuron devices and 16 of 16 EFA devices.
    """
    found = live.of("L118")
    live.not_before(moment(found["start"]) - dt.timedelta(hours=1), "the block has not started")
    base = deploy(
        live,
        "block.yaml",
        region=REGION,
        suffix="c",
        TYPE=TYPE,
        NODES=str(COUNT),
        ZONE_ID=found["zone_id"],
        IMAGE_ID=image_id(live, REGION),
        RESERVATION=found["reservation"],
        START=json.dumps(f"{moment(found['start']):%Y-%m-%dT%H:%M:%SZ}"),
        END=json.dumps(f"{moment(found['end']):%Y-%m-%dT%H:%M:%SZ}"),
        HOLD=json.dumps(HOLD),
    )
    live.keep(prepaid=True, **found)
    base.prepaid = True
    check_launch(live, base, found["reservation"])
    log = live.on_node(base.nodes()[0]["InstanceId"], "cat /var/log/ultracluster-boot.log", region=REGION)
    for line in ("16 of 16 Neuron", "16 of 16 EFA", "ready"):
        assert line in log, f"the boot log has no {line!r}"


@question("L7", tier=3, minutes=60, needs=["L119"], phase="during")
def test_collectives_use_efa(live: Live) -> None:
    """Does collective traffic use EFA, and how fast is it?

    Runs the fabric gate, and with it nccom-test, on two nodes. Passes when it reports more bandwidth than one card of 200 Gbit/s can carry,
    which TCP cannot reach.
    Note bandwidth and latency with the date. By hand: `fi_info -p efa` in a job lists one provider for each device, and with `FI_PROVIDER=tcp`, `TcpFallback`
    goes off within eight minutes (L87).
    """
    base = Cluster(live, live.of("L119"))
    job = base.wait_for(base.submit("gatedfabric"), minutes=55)
    log = base.log(job)
    assert "fabric gate: passed" in log, f"the log ends with {log[-200:]!r}"
    figures = [float(each) for each in re.findall(r"([0-9.]+) GB/s", log)]
    live.note(gb_per_s=figures)
    assert figures, "the log names no bandwidth"
    assert max(figures) > CARD_GB_PER_S, f"{max(figures)} GB/s is what one card carries"
