"""A purchase needs a confirmation: the token of its order, or its name and total typed at a terminal."""

from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, start

from ultracluster_cli.capacity import session as capacity_session
from ultracluster_runtime.purchasing.orders import order_token


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
