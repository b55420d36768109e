"""`ultracluster capacity`: options, confirmation and output, without AWS."""

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from tests.unit.runtime.purchasing.example_orders import block_order, offering, on_demand_order
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, start
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_cli.capacity import find as capacity_search
from ultracluster_cli.capacity import outputs as capacity_handover
from ultracluster_cli.capacity import parsing as capacity_input
from ultracluster_cli.capacity import session as capacity_session
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.main import main
from ultracluster_rules.findings import Finding
from ultracluster_runtime.purchasing.effects import Page, ReadFailed
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.purchasing.orders import Record, order_token

FIND = ["capacity", "find", "--instance-type", "trn2.48xlarge", "--nodes", "16", "--days", "14"]
BETWEEN = ["--between", "2026-12-01", "2027-01-15"]


def test_accepts_blocks_a_day_shorter_or_longer_than_asked() -> None:
    assert capacity_input.accepted_hours((336,)) == (312, 360)
    assert capacity_input.accepted_hours((24, 48)) == (1, 72)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["capacity", "find", "--days", "14", *BETWEEN], "UC7010"),
        ([*FIND, *BETWEEN, "--ultraservers", "2"], "UC7010"),
        (["capacity", "find", "--nodes", "16", "--days", "14", *BETWEEN], "UC7010"),
        (["capacity", "find", *FIND[2:4], "--ultraservers", "1", "--days", "14", *BETWEEN], "UC7010"),
        ([*FIND, *BETWEEN, "--nodes", "65"], "UC7011"),
        ([*FIND, *BETWEEN, "--days", "two"], "UC7013"),
        ([*FIND, *BETWEEN, "--days", "15"], "UC7101"),
        ([*FIND, *BETWEEN, "--prefer", "beauty"], "UC7016"),
        ([*FIND, "--between", "soon", "later"], "UC7008"),
        ([*FIND, "--between", "2027-01-15", "2026-12-01"], "UC7014"),
        ([*FIND, "--between", "2025-01-15", "2025-12-01"], "UC7014"),
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


def test_verify_rejects_a_reservation_of_another_region(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ultracluster_cli.capacity.verify.session_clients", lambda _: None)
    monkeypatch.setattr(
        "ultracluster_cli.capacity.verify.Ec2Reads.perform", lambda *_: Page(items=(), next_token=None)
    )
    assert main(["capacity", "verify", "cr-0123456789abcdef0", "--region", "us-west-2"]) == 2
    assert capsys.readouterr().err.startswith("UC7048: cr-0123456789abcdef0 not found in us-west-2")


def without_terminal(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: terminal, raising=False)


def quoted() -> Any:
    outcome = start(SCENARIOS["block"](), "december", "nonce").run()
    return outcome.quote


def test_the_token_of_the_order_confirms_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    quote = quoted()
    assert capacity_session.confirm(block_order(), quote, order_token(block_order()))
    assert not capacity_session.confirm(block_order(), quote, order_token(block_order(count=15)))
    assert "192241.66 USD" in capsys.readouterr().err


def test_without_a_terminal_nothing_is_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    without_terminal(monkeypatch, terminal=False)
    assert not capacity_session.confirm(block_order(), quoted(), None)


@pytest.mark.parametrize(
    ("typed", "goes_on"),
    [
        ("december 192241.66", True),
        ("december", False),
        ("yes", False),
        ("december 192241.67", False),
        ("", False),
    ],
)
def test_on_a_terminal_the_order_and_its_total_are_typed(
    typed: str, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool
) -> None:
    without_terminal(monkeypatch, terminal=True)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: typed)
    assert capacity_session.confirm(block_order(), quoted(), None) is goes_on


def paid() -> Record:
    record = start(SCENARIOS["segmented"](), "december", "nonce").run().record
    assert isinstance(record, Record)
    return record


def test_hands_a_purchase_over_as_lines_of_a_rollout(tmp_path: Path) -> None:
    one = replace(paid(), reservation_ids=("cr-0123456789abcdef0",))
    capacity_handover.write_fragment(one, tmp_path / "capacity.yaml")
    read = yaml.safe_load((tmp_path / "capacity.yaml").read_text())
    assert read == {
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


class FakeReads:
    """EC2 that offers the same in every Region; one offering cannot be read."""

    def __init__(self, _: Any) -> None:
        problem = "us-east-2: offering 'cb-broken' cannot be read"
        self.unreadable = [Finding(code="UC7043", problem=problem)]

    def perform(self, effect: Any) -> Page[Offering]:
        start_at = effect.start_after + timedelta(days=1)
        return Page(
            items=tuple(
                offering(
                    offering_id=f"cb-{effect.region}-{fee}",
                    region=effect.region,
                    fee=Decimal(fee),
                    start=start_at,
                    end=start_at + timedelta(days=14),
                )
                for fee in (200000, 190000)
            )
        )


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracluster_cli.capacity.find.Ec2Reads", FakeReads)
    monkeypatch.setattr("ultracluster_cli.capacity.find.session_clients", lambda profile: lambda: profile)


@pytest.mark.usefixtures("offered")
def test_find_prints_ranked_offerings_prices_and_read_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*FIND, *BETWEEN, "--regions", "us-east-2", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [row["total"] for row in found["offerings"]] == ["190000", "200000"]
    assert (
        found["offerings"][0]["per_chip_hour"] == "2.2089"
    )  # 190,000 / (16 instances x 16 chips x 336 hours)
    assert found["offerings"][0]["usable_hours"] == pytest.approx(335.33)
    assert any("p5.48xlarge" in price["price"] for price in found["prices"])
    assert any(text.startswith("UC7043") for text in found["findings"])
    assert err == ""


@pytest.mark.usefixtures("offered")
def test_find_does_not_call_it_success_when_no_region_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = ReadFailed(code="AuthFailure", message="who are you?", transient=False)
    monkeypatch.setattr(FakeReads, "perform", lambda *_: refused)

    assert main([*FIND, *BETWEEN, "--regions", "us-east-2"]) == ExitCode.UNKNOWN
    assert "UC7042" in capsys.readouterr().err


@pytest.mark.usefixtures("offered")
def test_find_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FIND, *BETWEEN, "--regions", "us-east-2"]) == 0
    out, err = capsys.readouterr()
    assert "190000" in out
    assert "use2-az3" in out
    assert "UC7043" in err


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize(("regions", "count"), [("all", 2), ("us-east-2,us-west-2,us-east-2", 2)])
def test_find_searches_the_specified_regions(
    regions: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*FIND, *BETWEEN, "--regions", regions, "--json"])
    rows = json.loads(capsys.readouterr().out)["offerings"]
    assert len({row["region"] for row in rows}) == count


@pytest.mark.sweep
def test_draws_one_mark_for_each_offering(tmp_path: Path) -> None:
    offerings = [offering(offering_id=str(day), start=START + timedelta(days=day)) for day in range(5)]
    capacity_search.plot_offerings(offerings, tmp_path / "offerings.svg")
    picture = ET.parse(tmp_path / "offerings.svg")  # noqa: S314 - our own file
    (marks,) = (element for element in picture.iter() if element.get("id") == "offerings-us-east-2")
    assert sum(element.tag.endswith("}use") for element in marks.iter()) == len(offerings)
