"""The evaluator against CloudWatch's own worked examples."""

from itertools import product
from typing import get_args

import pytest

from ultracluster_local.alarms.evaluation import State, next_state

KEEPS = "keeps"

# The two tables of the CloudWatch User Guide, "Configuring how CloudWatch alarms treat missing data", and the sequences of its
# section on premature transitions: data points, M, then missing, ignore, breaching, notBreaching. N is 3.
DOCUMENTED = [
    ("0-X-X", 3, ("OK", "OK", "OK", "OK")),
    ("0----", 3, ("OK", "OK", "OK", "OK")),
    ("-----", 3, ("INSUFFICIENT_DATA", KEEPS, "ALARM", "OK")),
    ("0XX-X", 3, ("ALARM", "ALARM", "ALARM", "ALARM")),
    ("--X--", 3, ("ALARM", KEEPS, "ALARM", "OK")),
    ("0-X-X", 2, ("ALARM", "ALARM", "ALARM", "ALARM")),
    ("00X0X", 2, ("ALARM", "ALARM", "ALARM", "ALARM")),
    ("0-X--", 2, ("OK", "OK", "ALARM", "OK")),
    ("----0", 2, ("OK", "OK", "ALARM", "OK")),
    ("---X-", 2, ("ALARM", KEEPS, "ALARM", "OK")),
]


def points(text: str) -> list[bool | None]:
    return [{"0": False, "X": True, "-": None}[each] for each in text]


@pytest.mark.parametrize(("data", "to_alarm", "documented"), DOCUMENTED)
@pytest.mark.parametrize("before", get_args(State))
def test_every_row_of_the_documented_tables(
    before: State, data: str, to_alarm: int, documented: tuple[str, ...]
) -> None:
    got = tuple(
        next_state(points(data), evaluation_periods=3, to_alarm=to_alarm, missing=treatment, before=before)
        for treatment in ("missing", "ignore", "breaching", "notBreaching")
    )
    assert got == tuple(before if each == KEEPS else each for each in documented)


@pytest.mark.parametrize("data", ["----X", "---X-"])
def test_one_breach_that_is_too_young_waits_for_more(data: str) -> None:
    assert (
        next_state(points(data), evaluation_periods=3, to_alarm=3, missing="missing", before="OK") != "ALARM"
    )


def test_without_missing_data_an_alarm_is_m_of_the_last_n_under_every_treatment() -> None:
    for data in product([False, True], repeat=5):
        for treatment in ("missing", "ignore", "breaching", "notBreaching"):
            state = next_state(data, evaluation_periods=3, to_alarm=2, missing=treatment, before="OK")
            assert state == ("ALARM" if sum(data[2:]) >= 2 else "OK")


def test_more_data_never_breaks_the_order_of_the_treatments() -> None:
    badness = {"OK": 0, "INSUFFICIENT_DATA": 1, "ALARM": 2}
    for data in product([False, True, None], repeat=5):
        for to_alarm in (1, 2, 3):
            lenient, between, strict = (
                badness[next_state(data, evaluation_periods=3, to_alarm=to_alarm, missing=each, before="OK")]
                for each in ("notBreaching", "missing", "breaching")
            )
            assert lenient <= between <= strict
