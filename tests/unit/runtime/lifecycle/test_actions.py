"""Actions of the life cycle."""

from ultracluster_runtime.lifecycle.actions import Notify, PartialDeliveryError


def test_partial_delivery_names_the_failures_and_keeps_the_nodes_that_were_reached() -> None:
    error = PartialDeliveryError(frozenset({"i-1"}), ["i-2: offline", "i-3: denied"])

    assert error.requested == {"i-1"}
    assert str(error) == "could not request a checkpoint on: i-2: offline; i-3: denied"


def test_reports_of_two_notifications_are_separate() -> None:
    first, second = (Notify(notices=frozenset({name}), subject="s", text="t") for name in ("a", "b"))
    first.report["hours"] = 1

    assert second.report == {}
