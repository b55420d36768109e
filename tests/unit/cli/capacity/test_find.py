"""`ultracluster capacity find` with replaced reads of EC2."""

import json
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.capacity.find_arguments import BETWEEN, FIND
from tests.unit.runtime.purchasing.example_orders import offering

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.main import main
from ultracluster_runtime.purchasing.effects import Page, ReadFailed
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_spec.findings import Finding


def read_page(_: Any, effect: Any) -> Page[Offering]:
    """Answer as EC2 that offers the same in every Region; one offering cannot be read."""
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
        ),
        unreadable=(Finding(code="UC7043", problem="us-east-2: offering 'cb-broken' cannot be read"),),
    )


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracluster_cli.capacity.find.read_page", read_page)
    monkeypatch.setattr(
        "ultracluster_cli.capacity.find.clients_of", lambda _: SimpleNamespace(sent={"ec2:Describe": 1})
    )


@pytest.mark.usefixtures("offered")
def test_find_prints_ranked_offerings_prices_and_read_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*FIND, *BETWEEN, "--regions", "us-east-2", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [row["total"] for row in found["offerings"]] == ["190000", "200000"]
    assert found["calls"] == {"ec2:Describe": 1}
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
    refused = ReadFailed(code="UnauthorizedOperation", message="you may not", transient=False)
    monkeypatch.setattr("ultracluster_cli.capacity.find.read_page", lambda *_: refused)

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
@pytest.mark.parametrize(
    ("instance_type", "said"), [("p5e.48xlarge", "in us-west-2-phx-2a, a Local Zone"), ("trn2.48xlarge", "")]
)
def test_find_names_the_local_zones_that_it_did_not_search(
    instance_type: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*FIND, *BETWEEN, "--regions", "us-east-2", "--instance-type", instance_type])
    err = capsys.readouterr().err
    assert said in err
    assert ("Local Zone" in err) == bool(said)


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize(("regions", "count"), [("all", 2), ("us-east-2,us-west-2,us-east-2", 2)])
def test_find_searches_the_specified_regions(
    regions: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*FIND, *BETWEEN, "--regions", regions, "--json"])
    rows = json.loads(capsys.readouterr().out)["offerings"]
    assert len({row["region"] for row in rows}) == count


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--regions", "us-east2"], "UC2102: --regions: got 'us-east2'. Allowed: a Region"),
        (["--regions", "us-east2"], "Did you mean 'us-east-2'?"),
        (["--instance-type", "trn2.48xlagre"], "Did you mean 'trn2.48xlarge'?"),
        (["--between", "2020-01-01", "2020-02-01"], "UC7014: --between: the latest start, 2020-02-01 00:00 UTC, is in the past"),
        (["--between", "2099-01-02", "2099-01-01"], "UC7014: --between: no start lies between"),
        (["--between", "2099-01-01", "2099-01-02"], "more than 56 days ahead"),
        (["--nodes", "65"], "error: --nodes: got 65. Allowed: an integer from 1 to 64."),
    ],
)  # fmt: skip
def test_an_impossible_question_is_refused_before_a_request(
    options: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "ultracluster_cli.capacity.find.read_page", lambda *_: pytest.fail("a request was sent")
    )

    assert main([*FIND, *BETWEEN, *options]) == ExitCode.FINDINGS
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("offered")
def test_no_credentials_are_one_error_and_not_an_empty_list(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = ReadFailed(code="NoCredentialsError", message="Unable to locate credentials", transient=False)
    monkeypatch.setattr("ultracluster_cli.capacity.find.read_page", lambda *_: refused)

    assert main([*FIND, *BETWEEN]) == ExitCode.FINDINGS
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("UC9009: no Region accepted them: Unable to locate credentials.")


@pytest.mark.usefixtures("offered")
def test_the_best_offering_is_marked_and_the_next_command_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*FIND, *BETWEEN, "--limit", "1"]) == 0
    out, err = capsys.readouterr()
    (best,) = (line for line in out.splitlines() if "cb-" in line)

    assert best.startswith("1 best")
    assert "190000" in best
    assert "3 more offerings: --limit 4 lists them" in err
    assert "ultracluster capacity approve ORDER --cluster CLUSTER" in err
    assert "--max-fee 190000" in err.replace(" \\\n   ", "")


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize(
    ("days", "best", "why"),
    [("7-14", "cb-14", "chip-hour"), ("7,14", "cb-14", "chip-hour"), ("7", "cb-7", "total")],
)
def test_a_range_of_days_recommends_the_best_price_and_not_the_shortest_block(
    days: str, best: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(_: Any, effect: Any) -> Page[Offering]:
        start_at = effect.start_after + timedelta(days=1)
        blocks = tuple(
            offering(
                offering_id=f"cb-{length}",
                fee=Decimal(fee),
                start=start_at,
                end=start_at + timedelta(days=length),
                duration=timedelta(days=length),
            )
            for length, fee in ((7, 100000), (14, 190000))
        )
        return Page(items=blocks, unreadable=())

    monkeypatch.setattr("ultracluster_cli.capacity.find.read_page", read)

    assert main([*FIND, *BETWEEN, "--regions", "us-east-2", "--days", days]) == 0
    assert f"Offering {best} is the best by {why}." in capsys.readouterr().err
