"""A purchase needs a confirmation, and says whether its cluster was rehearsed."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.parsers import ResponseParserError
from tests.unit.cli._aws.test_rehearsals import AT, Parameters
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, start
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_cli.capacity import session as capacity_session
from ultracluster_cli.capacity.session import echo_rehearsals
from ultracluster_cli.exit_codes import ExitCode, exit_code_of
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_runtime.rollout.rehearsal_record import Rehearsal, cluster_digest, write_rehearsal
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout


def without_terminal(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: terminal, raising=False)


def type_in(monkeypatch: pytest.MonkeyPatch, typed: str | None) -> None:
    """Type a line at the terminal; None for nobody there, so that the wait ends without one."""
    waits: list[float] = []

    def select(readers: list[Any], _: Any, __: Any, seconds: float) -> tuple[list[Any], list[Any], list[Any]]:
        waits.append(seconds)
        assert waits == [600]
        return ([] if typed is None else readers), [], []

    monkeypatch.setattr("select.select", select)
    monkeypatch.setattr("sys.stdin.readline", lambda: f"{typed}\n", raising=False)


def quoted() -> Any:
    outcome = start(SCENARIOS["block"](), "december", "nonce").run()
    return outcome.quote


def test_the_token_of_the_order_confirms_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    quote = quoted()
    assert capacity_session.confirm(block_order(), quote, block_order().token)
    assert not capacity_session.confirm(block_order(), quote, block_order(count=15).token)
    assert "192241.66 USD" in capsys.readouterr().err


def test_the_terms_of_a_purchase_are_lines_that_end_with_the_total(
    capsys: pytest.CaptureFixture[str],
) -> None:
    capacity_session.confirm(block_order(), quoted(), block_order().token)

    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Order december for cluster ")
    assert lines[0].endswith(f", approved by {block_order().approver}:")
    words = [line.split() for line in lines[1:]]
    assert [line[0] for line in words[1:3]] == ["from", "to"]
    assert words[3][1] == "instances,"
    assert words[-1][:3] == ["total", "192241.66", "USD"]
    assert len(words) == 5


def test_the_record_of_an_order_has_the_keys_that_scripts_read() -> None:
    row = capacity_session.record_row(BOUGHT.record)

    assert row.keys() == {
        *("order", "kind", "cluster", "state", "fee", "cap", "reservations", "start", "end"),
        *("zone_ids", "instances", "changed_at", "reason", "token"),
    }
    assert datetime.fromisoformat(row["changed_at"]) == BOUGHT.record.changed_at.replace(microsecond=0)


@pytest.mark.parametrize(
    ("besides", "terminal", "typed", "goes_on"),
    [
        (["january"], False, None, True),
        ([], False, None, False),
        (["december"], False, None, False),
        ([], True, "january", True),
        ([], True, "yes", False),
        ([], True, None, False),
    ],
)
def test_each_order_that_overlaps_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    besides: list[str],
    *,
    terminal: bool,
    typed: str | None,
    goes_on: bool,
) -> None:
    without_terminal(monkeypatch, terminal=terminal)
    type_in(monkeypatch, typed)
    other = block_order(name="january")
    record = Record(order=other, token=other.token, state=OrderState.APPROVED, changed_at=START)
    assert capacity_session.accept(block_order(), [record], besides) is goes_on
    said = " ".join(capsys.readouterr().err.split())
    assert "order january (APPROVED) for cluster ohio: 16 x trn2.48xlarge, 2026-11-20 to 2027-01-04" in said


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
        (None, False),
    ],
)
def test_on_a_terminal_the_order_and_its_total_are_typed(
    typed: str | None, monkeypatch: pytest.MonkeyPatch, *, goes_on: bool
) -> None:
    without_terminal(monkeypatch, terminal=True)
    type_in(monkeypatch, typed)
    assert capacity_session.confirm(block_order(), quoted(), None) is goes_on


BOUGHT = start(SCENARIOS["segmented"](), "december", "nonce").run()
IDS = ", ".join(BOUGHT.record.reservation_ids)


def failing(error: Exception) -> Any:
    def write(*_: Any) -> None:
        raise error

    return write


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(13, "Permission denied"),
        KeyError("Parameter"),
        ResponseParserError("no element found"),
        EndpointConnectionError(endpoint_url="https://ssm"),
    ],
    ids=repr,
)
def test_purchase_is_shown_although_an_output_fails(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []
    outputs = {"SSM parameter": failing(error), "file 'x'": lambda: written.append("x")}
    with pytest.raises(FindingsError) as failed:
        capacity_session.show_outcome(BOUGHT, as_json=True, outputs=outputs)

    assert json.loads(capsys.readouterr().out)["order"]["reservations"] == IDS
    (finding,) = failed.value.findings
    assert finding.code == "UC7051"
    assert (
        f"order december is PURCHASED with {IDS}, and the SSM parameter could not be written"
        in finding.problem
    )
    assert exit_code_of(failed.value.findings) == ExitCode.FAILED
    assert written == ["x"]


def test_purchase_is_reported_on_stderr_if_stdout_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(
            FindingsError, match=r"UC7051: order december is PURCHASED with cr-.* No space left"
        ):
            capacity_session.show_outcome(BOUGHT, as_json=False)
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(FindingsError, match=r"UC7051: order december is PURCHASED with cr-.* it is closed"):
        capacity_session.show_outcome(BOUGHT, as_json=True)


class Session:
    """A session whose SSM has the record of a rehearsal of the quick start."""

    def __init__(self, digest: str) -> None:
        self.ssm = Parameters()
        write_rehearsal(self.ssm, "quickstart", Rehearsal(digest=digest, at=AT, passed=30, failures=()))

    def clients(self, service: str, region: str, **_: Any) -> Parameters:
        assert (service, region) == ("ssm", "us-east-2")
        return self.ssm


@pytest.mark.parametrize(
    ("version", "with_file", "said"),
    [
        ("same", True, "30 checks passed."),
        ("older", True, "as an older version of it."),
        ("older", False, "30 checks passed."),
    ],
)
def test_a_rollout_file_tells_an_older_version(
    capsys: pytest.CaptureFixture[str], quickstart: Path, version: str, said: str, *, with_file: bool
) -> None:
    (cluster,) = load_rollout(quickstart).config.clusters()
    session: Any = Session(cluster_digest(cluster) if version == "same" else "older")
    order = block_order(cluster="quickstart", regions=("us-east-2",))

    echo_rehearsals(order, session, quickstart if with_file else None)

    assert capsys.readouterr().err.endswith(f"{said}\n")
