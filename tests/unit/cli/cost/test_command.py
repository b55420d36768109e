import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ultracluster_catalog.prices.billable_items import BillableItem
from ultracluster_catalog.prices.prices import Price
from ultracluster_cli._aws.target import Target
from ultracluster_cli.cost import actual as actual_command
from ultracluster_cli.cost import estimate as costing
from ultracluster_runtime.costs.cost_explorer import ActualCosts

ROLLOUTS = Path(__file__).parents[4] / "stacks" / "rollouts"
TWO_WAVES, QUICKSTART, JOBS = (str(ROLLOUTS / f"{name}.yaml") for name in ("two-waves", "quickstart", "jobs"))

Run = Callable[..., Any]


def clusters(outcome: Any) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.stderr
    found: list[dict[str, Any]] = json.loads(outcome.stdout)["clusters"]
    return found


def test_shows_the_estimate_with_sources_and_unknown_prices(run: Run) -> None:
    outcome = run("cost", QUICKSTART, "--hours", "24")

    assert outcome.code == 0
    assert "4 x trn2.48xlarge in a Capacity Block" in outcome.stdout
    assert "3,433.04" in outcome.stdout  # 4 x 35.7608 x 24
    assert "capacityblocks/pricing" in outcome.stdout
    assert "2026-07-22" in outcome.stdout
    assert "no dated price for PERSISTENT_2-250 in us-east-2" in outcome.stdout
    assert "not included, because the price or quantity is unknown" in outcome.stdout


def test_json_has_all_clusters_unless_one_is_named(run: Run) -> None:
    told = clusters(run("cost", TWO_WAVES, "--json"))

    assert [each["cluster"] for each in told] == ["canary", "pretrain", "finetune"]
    (one,) = clusters(run("cost", TWO_WAVES, "--cluster", "finetune", "--json"))
    assert one == told[2]
    assert (one["hours"], one["hours_from"], one["currency"]) == ("730", "a month", "USD")
    assert one["lines"][0]["price"] == ["9.532", "9.532"]
    assert {"name", "what", "quantity", "unit", "price", "source", "dated", "reason", "charged"} < set(
        one["lines"][0]
    )


def test_a_specified_price_is_used(run: Run) -> None:
    (told,) = clusters(run("cost", QUICKSTART, "--price", "file system=0.21", "--hours", "73", "--json"))
    (line,) = [each for each in told["lines"] if each["name"] == "file system"]

    assert line["run"]["low"] == "100.800000"  # 4800 x 0.21 / 10
    assert line["source"] == "given by --price"
    assert "file system" not in told["run"]["without"]


def test_compares_with_another_type_by_the_throughput_ratio(run: Run) -> None:
    arguments = ("cost", QUICKSTART, "--hours", "300", "--compare", "p5.48xlarge")
    (told,) = clusters(run(*arguments, "--throughput-ratio", "1.5", "--json"))
    shown = run(*arguments, "--throughput-ratio", "1.5", "--tokens-per-second", "1000").stdout
    prices_only = run(*arguments)

    assert (told["rival"]["hours"], told["rival"]["price"]) == ("200.000000", ["41.528", "41.528"])
    assert told["rival"]["run"]["low"].startswith("33222.4")  # 4 x 41.528 x 200
    assert "The same run on p5.48xlarge" in shown
    assert "5.1910" in shown  # a chip and hour
    assert "specify a measured --throughput-ratio" in prices_only.stdout


def test_shows_spot_as_a_range(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "spot.yaml"
    text = (ROLLOUTS / "quickstart.yaml").read_text()
    start, end = text.index("          market_type"), text.index("        file_system:")
    job = text.index("        jobs:")
    path.write_text(text[:start] + "          market_type: spot\n" + text[end:job])

    shown = run("cost", str(path), "--hours", "10", "--tokens-per-second", "1000").stdout

    assert "359.60 to 614.80" in shown
    assert "8.99 to 15.37 per instance-hour" in shown


def test_compiling_is_on_the_bill_of_the_small_machine(run: Run) -> None:
    (told,) = clusters(run("cost", JOBS, "--compile-hours", "3", "--fallback-region", "us-east-1", "--json"))

    assert told["lines"][-1]["what"].startswith("3 h on one On-Demand trn1.2xlarge")
    assert told["lines"][-1]["run"]["low"] == "4.031250"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hours", "0"], "UC9301: --hours"),
        (["--hours", "-1", "--runs-per-month", "0"], "UC9301: --runs-per-month"),
        (["--hours", "nan"], "UC9301: --hours"),
        (["--stored-gb", "-1"], "UC9301: --stored-gb"),
        (["--compile-reuse", "0"], "UC9301: --compile-reuse"),
        (["--hours", "366", "--runs-per-month", "2"], "UC9302"),
        (["--price", "file system"], "UC9303: --price"),
        (["--price", "file system=cheap"], "UC9303: --price"),
        (["--price", "file system=-1"], "UC9303: --price"),
        (["--price", "file system=nan"], "UC9303: --price"),
        (["--price", "disks=1"], "UC9303: --price: unknown line"),
        (["--savings-plan", "10"], "UC9304"),
        (["--throughput-ratio", "2"], "UC9305"),
        (["--compare", "p9.48xlarge"], "UC4001"),
        (["--chart", "cost.pdf"], "UC9306"),
        (["--cluster", "nobody"], "UC2201"),
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

    assert [line[:6] for line in outcome.stderr.splitlines() if line.startswith("UC")] == [
        "UC9301",
        "UC9305",
        "UC9304",
    ]


@pytest.mark.sweep  # matplotlib takes seconds to import
@pytest.mark.parametrize("name", ["cost.html", "cost.png"])
def test_draws_the_bill(run: Run, tmp_path: Path, name: str) -> None:
    first, second = tmp_path / "1" / name, tmp_path / "2" / name
    for path in (first, second):
        path.parent.mkdir()
        assert run("cost", TWO_WAVES, "--hours", "24", "--chart", str(path)).code == 0

    assert first.read_bytes() == second.read_bytes()
    if name.endswith(".png"):
        assert first.read_bytes().startswith(b"\x89PNG")
        return
    page = first.read_text()
    assert all(f"{cluster} in " in page for cluster in ("canary", "pretrain", "finetune"))
    assert "457.54" in page  # 2 x 9.532 x 24
    assert "without" in page
    assert "<script" not in page
    assert 'src="http' not in page


def test_reports_what_to_install_for_a_chart(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)

    outcome = run("cost", QUICKSTART, "--chart", str(tmp_path / "cost.html"))

    assert outcome.code == 2
    assert "UC9306" in outcome.stderr
    assert "ultracluster[plot]" in outcome.stderr


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def account(_: str | None = None) -> Iterator[Target]:
        yield Target(
            name="a", local=False, environment=os.environ, client=lambda service, region: (service, region)
        )

    monkeypatch.setattr(costing, "account", account)
    monkeypatch.setattr(actual_command, "account", account)


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


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch, signed_in: None) -> list[dict[str, Any]]:  # noqa: ARG001 - for its effect
    """What Cost Explorer was asked."""
    asked: list[dict[str, Any]] = []

    def actual(**question: Any) -> ActualCosts:
        asked.append(question)
        amounts = {"Amazon EC2": Decimal("6900.5"), "Amazon FSx": Decimal("22.25")}
        return ActualCosts(amounts=amounts, currency="USD", estimated=True)

    monkeypatch.setattr(actual_command, "actual_costs", actual)
    return asked


def test_actual_costs_stand_beside_the_estimate_for_the_same_days(
    run: Run, spent: list[dict[str, Any]]
) -> None:
    arguments = (
        "cost",
        "actual",
        QUICKSTART,
        "--from",
        "2026-09-01",
        "--to",
        "2026-09-02",
        "--fallback-region",
        "us-east-1",
    )
    (told,) = clusters(run(*arguments, "--json"))
    shown = run(*arguments, "--by", "team").stdout

    assert (told["actual"], told["node_hours"], told["estimated"]) == ("6922.75", "48", True)
    # 4 x (35.7608 + (200 x 0.08 + 375 x 0.04) / 730) x 48 + (9 x 0.01 + 0.10 / 730) x 48
    assert Decimal(told["estimate"]["low"]) == pytest.approx(Decimal("6878.5538"), abs=Decimal("0.001"))
    assert "file system" in told["estimate"]["without"]
    assert (spent[0]["start"].isoformat(), spent[0]["end"].isoformat()) == ("2026-09-01", "2026-09-03")
    assert (spent[0]["tag_value"], spent[0]["region"], spent[0]["by"]) == ("quickstart", "us-east-2", None)
    assert spent[1]["by"] == "team"
    assert "6,922.75" in shown
    assert "AWS may still change these amounts" in shown
    assert "estimate for 48 hours of all nodes: 6,878.55 USD, without file system" in shown


def test_hours_outside_the_window_of_the_capacity_have_no_nodes(
    run: Run, spent: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "window.yaml"
    window = '          start: "2026-09-02T12:00:00Z"\n          end: "2026-09-09T11:30:00Z"\n        file_system:\n'
    path.write_text(Path(QUICKSTART).read_text().replace("        file_system:\n", window, 1))

    (told,) = clusters(
        run("cost", "actual", str(path), "--from", "2026-09-01", "--to", "2026-09-02", "--json")
    )

    assert (told["node_hours"], len(spent)) == ("12", 1)
    assert told["estimate"]["low"] == "1716.518400"  # 4 x 35.7608 x 12; no other price is known there


@pytest.mark.usefixtures("spent")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "yesterday"], "UC9309"),
        (["--from", "2026-09-03", "--to", "2026-09-02"], "UC9309"),
        (["--from", "2025-01-01", "--to", "2026-01-02"], "UC9309"),
        (["--from", "2026-09-01", "--to", "2999-01-01"], "UC9309"),
        (["--from", "2026-09-01", "--to", "2026-09-01", "--node-hours", "24.5"], "UC9301"),
        (["--from", "2026-09-01", "--cluster", "nobody"], "UC2201"),
    ],
)
def test_refuses_days_that_were_not(run: Run, arguments: list[str], said: str) -> None:
    outcome = run("cost", "actual", QUICKSTART, *arguments)

    assert outcome.code == 2
    assert said in outcome.stderr


@pytest.mark.usefixtures("spent")
def test_takes_today_and_a_single_day(run: Run) -> None:
    today = datetime.now(UTC).date()

    assert (
        run("cost", "actual", QUICKSTART, "--from", str(today), "--to", str(today), "--node-hours", "24").code
        == 0
    )
    assert run("cost", "actual", QUICKSTART, "--from", str(today - timedelta(days=1))).code == 0
