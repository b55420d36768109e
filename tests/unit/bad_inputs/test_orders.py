"""Rows of which preflight and the purchase take care: the account, the clock, reservations and orders."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, source
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, offering
from tests.unit.runtime.purchasing.scenarios import simulate, start, two_orders_of_one_cluster
from tests.unit.runtime.purchasing.simulation import OWNED_END, START, Simulation

from ultracluster_cli.capacity import session as capacity_session
from ultracluster_cli.main import main
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_runtime.purchasing.order_checks import check_order, parse_amount
from ultracluster_runtime.purchasing.orders import Order
from ultracluster_runtime.purchasing.reconcile import Outcome
from ultracluster_spec.findings import FindingsError

RESERVATION: Mapping[str, Any] = {
    "CapacityReservationId": "cr-0123456789abcdef0",
    "OwnerId": "123456789012",
    "InstanceType": "trn2.48xlarge",
    "AvailabilityZoneId": "use2-az3",
    "InstancePlatform": "Linux/UNIX",
    "TotalInstanceCount": 4,
    "ReservationType": "capacity-block",
    "State": "active",
    "Tenancy": "default",
}


SOURCE = source()


def status_of(code: str, facts: Any, needs: Any = SOURCE) -> Status:
    (check,) = [each for each in CHECKS if each.code == code]
    status: Status = check.evaluate(needs, facts).status
    return status


def refused(order: Order) -> set[str]:
    """Codes of what is refused, or the terms."""
    return {finding.code or finding.path for finding in check_order(order, now=START)}


def outcome(simulation: Simulation, name: str = "december") -> str:
    """The code for which nothing is bought, or that it was."""
    result = start(simulation, name, "nonce").run()
    if isinstance(result, FindingsError):
        return result.findings[0].code
    assert isinstance(result, Outcome)
    return "bought"


@pytest.mark.parametrize(
    ("account", "status"), [("123456789012", Status.FAIL), ("999999999999", Status.PASS)]
)
def test_row_30_an_account_other_than_that_of_the_credentials(account: str, status: Status) -> None:
    needs = Account(clusters=(replace(CLUSTER, account=account),))
    assert status_of("UC9402", {"Account": "999999999999"}, needs) is status


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("UC9423", {"AvailabilityZoneId": "use2-az1"}),
        ("UC9424", {"InstanceType": "trn1.32xlarge"}),
        ("UC9425", {"InstancePlatform": "Windows"}),
        ("UC9426", {"TotalInstanceCount": 3}),
        ("UC9429", {"Tenancy": "dedicated"}),
        ("UC9431", {"ReservationType": "default"}),
    ],
)
def test_row_57_a_reservation_of_something_else(code: str, wrong: Mapping[str, Any]) -> None:
    assert status_of(code, {**RESERVATION, **wrong}) is Status.FAIL
    assert status_of(code, RESERVATION) is Status.PASS


def test_row_57_a_reservation_of_another_account_is_named() -> None:
    assert status_of("UC9430", (RESERVATION, "999999999999")) is Status.WARN
    assert status_of("UC9430", (RESERVATION, "123456789012")) is Status.PASS


@pytest.mark.parametrize(
    ("state", "status"),
    [
        *((state, Status.FAIL) for state in ("expired", "cancelled", "failed", "payment-failed")),
        *((state, Status.WARN) for state in ("payment-pending", "pending")),
        *((state, Status.PASS) for state in ("active", "scheduled")),
    ],
)
def test_row_58_a_reservation_in_another_state(state: str, status: Status) -> None:
    assert status_of("UC9427", {**RESERVATION, "State": state}) is status


@pytest.mark.parametrize("count", [0, 65, 257, True, 3.5])
def test_row_63_a_count_that_is_not_sold(count: Any) -> None:
    assert refused(block_order(count=count)) == {"count"}


@pytest.mark.parametrize("hours", [0, 6, 25, 15 * 24, 183 * 24])
def test_row_64_a_duration_that_is_not_sold(hours: int) -> None:
    assert refused(block_order(request_hours=(hours,))) == {"UC7101"}


@pytest.mark.parametrize("hours", [24, 14 * 24, 182 * 24])
def test_row_64_a_duration_that_is_sold(hours: int) -> None:
    assert refused(block_order(request_hours=(hours,))) == set()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"start_before": START - timedelta(seconds=1)}, "UC7014"),
        ({"start_before": START - timedelta(days=1), "start_after": START - timedelta(days=2)}, "UC7014"),
        ({"start_after": START + timedelta(weeks=9), "start_before": START + timedelta(weeks=10)}, "UC7014"),
        ({"end_by": START}, "UC7014"),
        ({"start_after": START.replace(tzinfo=None)}, "start_after"),
    ],
)
def test_row_65_a_window_in_which_nothing_starts(changes: dict[str, Any], code: str) -> None:
    assert refused(block_order(**changes)) == {code}


@pytest.mark.parametrize(
    "fee", [None, Decimal(0), Decimal(-1), Decimal("NaN"), Decimal("250000.01"), 1000.0, "50k", True]
)
def test_row_66_a_price_cap_that_is_none(fee: Any) -> None:
    assert refused(block_order(max_fee=fee)) == {"max_fee"}


@pytest.mark.parametrize("typed", ["50k", "1,000", "1e5", "EUR 5", "NaN", "inf", "-1", "", "\u0661"])
def test_row_66_a_price_cap_that_cannot_be_read(typed: str) -> None:
    with pytest.raises(FindingsError, match="error: --max-fee: got "):
        parse_amount("--max-fee", typed)


def test_row_66_euros_are_not_dollars() -> None:
    assert outcome(simulate([block_order(currency="EUR")], offerings=[offering()])) == "UC7027"
    assert outcome(simulate([block_order()], offerings=[offering(currency="EUR")])) == "UC7027"


def test_row_67_an_approval_that_has_expired() -> None:
    assert outcome(simulate([block_order(expires_at=START)])) == "UC7024"


def test_row_67_terms_that_were_edited_after_the_approval() -> None:
    simulation = simulate([block_order()])
    simulation.records["december"] = replace(simulation.records["december"], order=block_order(count=32))
    assert outcome(simulation) == "UC7025"


def test_row_68_nothing_is_bought_without_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no switch that buys by itself: without a terminal the token of the order has to be given."""
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: False, raising=False)
    monkeypatch.setenv("UC_ALLOW_PURCHASE", "december")
    quoted = start(simulate([block_order()]), "december", "nonce").run().quote
    assert not capacity_session.confirm(block_order(), quoted, None)
    assert outcome(simulate([block_order()], confirmed=False)) == "UC7034"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"extension_hours": 182 * 24}, "UC7028"),
        ({"expected_end": OWNED_END + timedelta(days=1)}, "UC7028"),
    ],
)
def test_row_69_an_extension_that_is_too_long_or_of_another_block(changes: Any, code: str) -> None:
    assert outcome(simulate([extension_order(**changes)]), "longer") == code


def test_row_69_an_extension_in_the_last_hour() -> None:
    simulation = simulate([extension_order(expires_at=OWNED_END)])
    simulation.now = OWNED_END - timedelta(minutes=59)
    assert outcome(simulation, "longer") == "UC7028"


def test_row_69_an_extension_while_another_is_paid() -> None:
    simulation = simulate([extension_order(), extension_order(name="longer-too")])
    assert outcome(simulation, "longer") == "bought"
    simulation.extension_end = OWNED_END  # as EC2 shows it until the payment has cleared
    assert outcome(simulation, "longer-too") == "UC7029"


@pytest.mark.parametrize(("ahead", "ends"), [(62, "UC7030"), (-62, "UC7030"), (59, "bought")])
def test_row_89_a_clock_that_is_wrong(ahead: int, ends: str) -> None:
    assert outcome(simulate([block_order()], clock_ahead=timedelta(seconds=ahead))) == ends


def test_row_90_two_commands_at_once() -> None:
    simulation = two_orders_of_one_cluster()
    assert outcome(simulation) == "bought"
    assert outcome(simulation, "january") == "UC7032"
    assert sum(simulation.sends.values()) == 1


def test_row_90_a_ledger_of_another_account() -> None:
    assert outcome(simulate([block_order(account="999999999999")])) == "UC7026"


def test_row_90_no_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", "buy", "december"]) == 2
    assert capsys.readouterr().err.startswith("UC7021")
