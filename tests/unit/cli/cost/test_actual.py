"""`ultracluster cost actual` with replaced reads of Cost Explorer."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.cost.cost_answers import QUICKSTART, clusters

from ultracluster_cli.cost import actual as actual_command
from ultracluster_runtime.costs.cost_explorer import ActualCosts


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


def test_actual_costs_are_shown_beside_the_estimate_for_the_same_days(
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
    # 4 x (35.7608 + (200 x 0.08 + 375 x 0.04) / 730) x 48
    # + (9 x 0.01 + (4800 x 0.21 + 22 x 0.10 + 0.50 + 31 x 0.30) / 730) x 48
    assert Decimal(told["estimate"]["low"]) == pytest.approx(Decimal("6945.6157"), abs=Decimal("0.001"))
    assert told["estimate"]["approximate"]
    assert "file system" not in told["estimate"]["without"]
    assert (spent[0]["start"].isoformat(), spent[0]["end"].isoformat()) == ("2026-09-01", "2026-09-03")
    assert (spent[0]["tag_value"], spent[0]["region"], spent[0]["by"]) == ("quickstart", "us-east-2", None)
    assert spent[1]["by"] == "team"
    assert "6,922.75" in shown
    assert "AWS may still change these amounts" in shown
    assert "estimate for 48 hours of all nodes: ≈ 6,945.62 USD, without" in shown


def test_hours_outside_the_window_of_the_capacity_have_no_nodes(
    run: Run, spent: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "window.yaml"
    window = '          start: "2026-09-02T12:00:00Z"\n          end: "2026-09-09T11:30:00Z"\n        notify:'
    path.write_text(Path(QUICKSTART).read_text().replace("        notify:", window, 1))

    (told,) = clusters(
        run("cost", "actual", str(path), "--from", "2026-09-01", "--to", "2026-09-02", "--json")
    )

    assert (told["node_hours"], len(spent)) == ("12", 1)
    # 4 x (35.7608 + (200 x 0.08 + 375 x 0.04) / 730) x 12, and what is not nodes for 48 hours
    assert Decimal(told["estimate"]["low"]) == pytest.approx(Decimal("1789.9452"), abs=Decimal("0.001"))


@pytest.mark.usefixtures("spent")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "yesterday"], "Allowed: days such as 2026-11-01 in order"),
        (["--from", "2026-09-03", "--to", "2026-09-02"], "Allowed: days such as 2026-11-01 in order"),
        (["--from", "2025-01-01", "--to", "2026-01-02"], "Allowed: days such as 2026-11-01 in order"),
        (["--from", "2026-09-01", "--to", "2999-01-01"], "Allowed: days such as 2026-11-01 in order"),
        (
            ["--from", "2026-09-01", "--to", "2026-09-01", "--node-hours", "24.5"],
            "error: --node-hours: got 24.5",
        ),
        (["--from", "2026-09-01", "--cluster", "nobody"], "unknown cluster 'nobody'"),
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
