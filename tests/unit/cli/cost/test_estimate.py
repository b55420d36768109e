"""Which runs, prices and hours are estimated."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.cost.cost_answers import JOBS, QUICKSTART, TWO_WAVES, clusters

from ultracluster_catalog.prices.prices import BillableItem, Price
from ultracluster_cli.cost import estimate as costing
from ultracluster_spec.findings import FindingsError


def test_a_specified_price_is_used(run: Run) -> None:
    (told,) = clusters(run("cost", QUICKSTART, "--price", "file system=0.21", "--hours", "73", "--json"))
    (line,) = [each for each in told["lines"] if each["name"] == "file system"]

    assert line["run"]["low"] == "100.800000"  # 4800 x 0.21 / 10
    assert line["source"] == "given by --price"
    assert "file system" not in told["run"]["without"]


def test_compiling_is_on_the_bill_of_the_small_machine(run: Run) -> None:
    (told,) = clusters(run("cost", JOBS, "--compile-hours", "3", "--fallback-region", "us-east-1", "--json"))

    assert told["lines"][-1]["what"].startswith("3 h on one On-Demand trn1.2xlarge")
    assert told["lines"][-1]["run"]["low"] == "4.031250"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hours", "0"], "error: --hours"),
        (["--hours", "-1", "--runs-per-month", "0"], "error: --runs-per-month"),
        (["--hours", "nan"], "'--hours': 'nan' is not a number"),
        (["--stored-gb", "-1"], "error: --stored-gb"),
        (["--compile-reuse", "0"], "error: --compile-reuse"),
        (["--hours", "366", "--runs-per-month", "2"], "732 hours. Allowed: 730 hours per month"),
        (["--price", "file system"], "error: --price"),
        (["--price", "file system=cheap"], "error: --price"),
        (["--price", "file system=-1"], "error: --price"),
        (["--price", "file system=nan"], "error: --price"),
        (["--price", "disks=1"], "error: --price: unknown line"),
        (["--savings-plan", "10"], "Savings Plans do not apply to"),
        (["--throughput-ratio", "2"], "got --throughput-ratio without --compare"),
        (["--compare", "p9.48xlarge"], "UC4001: --compare: got 'p9.48xlarge'"),
        (["--picture", "cost.png"], "error: --picture: got 'cost.png'. Allowed: FILE.svg."),
        (["--cluster", "nobody"], "unknown cluster 'nobody'"),
    ],
)
def test_refuses_plans_that_cannot_be(run: Run, arguments: list[str], said: str) -> None:
    outcome = run("cost", QUICKSTART, *arguments)

    assert outcome.code == 2
    assert said in outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--hours", "365", "--runs-per-month", "2"],
        ["--hours", "5000"],
        ["--stored-gb", "0", "--metrics", "0"],
        ["--price", "file system=0"],
    ],
)
def test_takes_plans_that_just_can_be(run: Run, arguments: list[str]) -> None:
    assert run("cost", QUICKSTART, *arguments).code == 0


def test_all_invalid_values_are_reported_together(run: Run) -> None:
    outcome = run("cost", QUICKSTART, "--hours", "0", "--savings-plan", "10", "--throughput-ratio", "2")

    assert [line.partition(". ")[0] for line in outcome.stderr.splitlines()] == [
        "error: --hours: got 0.0",
        "error: got --throughput-ratio without --compare",
        "error: Savings Plans do not apply to capacity-block nodes",
    ]


@pytest.mark.usefixtures("signed_in")
def test_asks_for_prices_of_today(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[tuple[BillableItem, str], None] = {}

    def listed(things: Any, *, client: Any) -> Any:
        assert client == ("pricing", "us-east-1")
        asked.update(dict.fromkeys(things))
        today = Price(
            amount=Decimal(40),
            unit="instance-hour",
            source="AWS Price List API",
            dated=datetime.now(UTC).date(),
        )
        return {each: today for each in asked if each[0].kind == "capacity-block"}, []

    monkeypatch.setattr(costing, "listed_prices", listed)
    (told,) = clusters(
        run("cost", QUICKSTART, "--live", "--hours", "10", "--compare", "p5.48xlarge", "--json")
    )

    assert told["lines"][0]["run"]["low"] == "1600.000000"  # 4 x 40 x 10
    assert told["lines"][0]["source"] == "AWS Price List API"
    assert {(thing.kind, thing.name) for thing, _ in asked} >= {
        ("capacity-block", "trn2.48xlarge"),
        ("capacity-block", "p5.48xlarge"),
        ("service", "interface endpoint"),
    }
    assert {region for _, region in asked} == {"us-east-2"}


LEDGER = ("--ledger", "orders", "--ledger-region", "us-east-2")


@pytest.fixture
def ordered(tmp_path: Path, quickstart: Path) -> str:
    """A rollout whose capacity is only ordered."""
    path = tmp_path / "rollout.yaml"
    path.write_text(quickstart.read_text().replace("reservation_id: cr-", "order: december # cr-"))
    return str(path)


def test_capacity_that_is_not_bought_yet_is_priced_as_reserved(run: Run, ordered: str) -> None:
    assert run("cost", ordered, "--json").stdout == run("cost", QUICKSTART, "--json").stdout


@pytest.fixture(params=["options", "cdk.json"])
def ledger_options(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """Where the ledger is named."""
    if request.param == "options":
        return LEDGER
    ledger = {"table": "orders", "region": "us-east-2"}
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"ledger": ledger}}))
    monkeypatch.chdir(tmp_path)
    return ()


@pytest.mark.usefixtures("signed_in")
@pytest.mark.parametrize(
    ("start", "hours"), [(None, "672"), (datetime(2026, 12, 1, 11, 30, tzinfo=UTC), "335.5")]
)
def test_a_block_that_only_an_order_names_has_the_hours_of_the_order(
    run: Run,
    ordered: str,
    ledger_options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    *,
    start: Any,
    hours: str,
) -> None:
    order = SimpleNamespace(name="december", request_hours=(336, 672))
    end = None if start is None else start + timedelta(hours=335, minutes=30)
    ledger = SimpleNamespace(orders=lambda: [SimpleNamespace(order=order, start=start, end=end)])
    monkeypatch.setattr(costing, "BlockOrder", SimpleNamespace)
    monkeypatch.setattr(costing, "Ledger", lambda *_: ledger)

    (told,) = clusters(run("cost", ordered, *ledger_options, "--json"))

    assert (told["hours"], told["hours_from"]) == (hours, "order december")


@pytest.mark.usefixtures("signed_in")
def test_a_ledger_that_does_not_answer_is_told_and_costs_are_those_of_a_day(
    run: Run, ordered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def orders() -> Any:
        raise FindingsError.of("UC7021", "no table")

    monkeypatch.setattr(costing, "Ledger", lambda *_: SimpleNamespace(orders=orders))
    outcome = run("cost", ordered, *LEDGER, "--json")

    assert "UC7021: no table" in outcome.stderr
    (told,) = clusters(outcome)
    assert (told["hours"], told["hours_from"][:5]) == ("24", "a day")


def test_draws_the_costs_of_all_clusters(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "cost.svg"
    assert run("cost", TWO_WAVES, "--hours", "24", "--picture", str(picture)).code == 0
    assert all(
        f"{cluster} in " in picture.read_text("utf-8") for cluster in ("canary", "pretrain", "finetune")
    )
