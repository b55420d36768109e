"""`ultracluster capacity`: options, confirmation and output, without AWS."""

from dataclasses import replace

import pytest
import yaml
from tests.unit.cli.capacity.find_arguments import BETWEEN, FIND
from tests.unit.runtime.purchasing.example_orders import on_demand_order
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, start

from ultracluster_cli.capacity import command as capacity_handover
from ultracluster_cli.main import main
from ultracluster_runtime.purchasing.orders import Record


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["capacity", "find", "--days", "14", *BETWEEN], "UC7010"),
        ([*FIND, *BETWEEN, "--ultraservers", "2"], "UC7010"),
        (["capacity", "find", "--nodes", "16", "--days", "14", *BETWEEN], "UC7010"),
        (["capacity", "find", *FIND[2:4], "--ultraservers", "1", "--days", "14", *BETWEEN], "UC7010"),
        ([*FIND, *BETWEEN, "--days", "two"], "error: --days: got 'two'"),
        ([*FIND, *BETWEEN, "--days", "15"], "UC7101"),
        ([*FIND, *BETWEEN, "--prefer", "beauty"], "error: --prefer: got 'beauty'"),
        ([*FIND, "--between", "soon", "later"], "error: --between: got 'soon'"),
        (["capacity", "status"], "UC7021"),
        (["capacity", "buy", "december"], "UC7021"),
        ([*FIND, *BETWEEN, "--profile", "nobody"], "UC9009"),
    ],
)
def test_an_invalid_command_line_is_a_finding(
    arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(code)


def paid() -> Record:
    record = start(SCENARIOS["segmented"](), "december", "nonce").run().record
    assert isinstance(record, Record)
    return record


def test_hands_a_purchase_over_as_lines_of_a_rollout() -> None:
    one = replace(paid(), reservation_ids=("cr-0123456789abcdef0",))
    assert yaml.safe_load(capacity_handover.fragment(one)) == {
        "region": "us-east-2",
        "zone_id": "use2-az3",
        "capacity": {
            "market_type": "capacity-block",
            "reservation_id": "cr-0123456789abcdef0",
            "start": "2026-11-30T09:00:00Z",
            "end": "2026-12-14T09:00:00Z",
        },
    }


def test_hands_every_reservation_of_a_segmented_purchase_over() -> None:
    record = paid()
    text = capacity_handover.fragment(record)
    assert all(reservation_id in text for reservation_id in record.reservation_ids)
    assert len(record.reservation_ids) == 3


def test_a_reservation_on_demand_is_handed_over_as_on_demand() -> None:
    record = replace(paid(), order=on_demand_order(), reservation_ids=("cr-0123456789abcdef0",))
    assert yaml.safe_load(capacity_handover.fragment(record))["capacity"]["market_type"] == "on-demand"
