from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from ultracluster_spec.bounds import Between, Checked, Form, Known, NotEmpty
from ultracluster_spec.capacity import OnDemand, Spot
from ultracluster_spec.findings import Finding
from ultracluster_spec.job import Job
from ultracluster_spec.names import resource_id
from ultracluster_spec.nodes import RootVolume
from ultracluster_spec.queue import Queue, WaitLimits
from ultracluster_spec.values import Value, broken_bounds

FORM = Form(code="UC4110", pattern="ami-[0-9]+", allowed="ami-1", explain=lambda got: f"not {got}")
BOUNDS = Between(code="UC4101", least=1, most=1000)
NAMES = Known(code="UC4002", names=("batch", "all-efa"), explain=lambda _: "Take one")


@pytest.mark.parametrize(("rule", "value"), [(FORM, "ami-1"), (BOUNDS, 1), (BOUNDS, 1000), (NAMES, "batch")])
def test_a_value_that_keeps_its_rule_has_no_finding(rule: Form | Between | Known, value: str) -> None:
    assert rule.check(value) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "value", "shown"),
    [
        (FORM, "ami-1 ", "UC4110: p: got 'ami-1 '. Allowed: ami-1. not ami-1 ."),
        (BOUNDS, 0, "UC4101: p: got 0. Allowed: 1 to 1,000."),
        (BOUNDS, 1001, "UC4101: p: got 1001. Allowed: 1 to 1,000."),
        (NAMES, "Batch", "UC4002: p: got 'Batch'. Allowed: batch, all-efa. Take one."),
    ],
)
def test_a_value_that_breaks_its_rule_is_shown_with_what_is_allowed(
    rule: Form | Between | Known, value: str, shown: str
) -> None:
    assert [str(finding) for finding in rule.check(value, path="p")] == [shown]  # type: ignore[arg-type]


def test_a_credential_is_not_shown() -> None:
    (finding,) = FORM.check("AKIAIOSFODNN7EXAMPLE")
    assert "AKIAIOSFODNN7EXAMPLE" not in finding.problem


COUNT = Between(code="UC4101", least=1, most=3)
NAME = Known(code="UC4002", names=("batch", "all-efa"), explain=lambda _: "")
EVEN = Checked(lambda value: [Finding("UC4103", "odd")] if value % 2 else [], {"multipleOf": 2})
SUBNET = resource_id("subnet", code="UC3107")


def code_of(kind: Any, value: object) -> str | None:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return str(error.errors()[0]["ctx"]["error"].findings[0].code)
    return None


@pytest.mark.parametrize(
    ("kind", "accepted", "refused", "code"),
    [
        (Annotated[int, COUNT], [1, 3], [0, 4], "UC4101"),
        (Annotated[str, NAME], ["batch"], ["bach", ""], "UC4002"),
        (
            Annotated[str, SUBNET],
            ["subnet-01234567", "subnet-0123456789abcdef0"],
            ["subnet-0", "vpc-01234567"],
            "UC3107",
        ),
        (Annotated[tuple[int, ...], NotEmpty()], [(1,)], [()], "UC1024"),
        (Annotated[int, EVEN], [0, 2], [1], "UC4103"),
    ],
)
def test_a_value_that_breaks_the_rule_is_refused_with_its_code(
    kind: Any, accepted: list[object], refused: list[object], code: str
) -> None:
    assert [code_of(kind, value) for value in accepted] == [None] * len(accepted)
    assert [code_of(kind, value) for value in refused] == [code] * len(refused)


def test_the_schema_has_the_same_limits() -> None:
    class Model(BaseModel):
        count: Annotated[int, COUNT]
        name: Annotated[str, NAME]
        subnet: Annotated[str, SUBNET]
        items: Annotated[tuple[int, ...], NotEmpty()]
        even: Annotated[int, EVEN]

    schema = Model.model_json_schema()["properties"]

    assert (schema["count"]["minimum"], schema["count"]["maximum"]) == (1, 3)
    assert schema["name"]["enum"] == ["batch", "all-efa"]
    assert schema["subnet"]["pattern"].startswith("^(?:subnet-")
    assert schema["items"]["minItems"] == 1
    assert schema["even"]["multipleOf"] == 2


# As the API references of AWS say


@pytest.mark.parametrize(
    ("value", "least", "most", "code"),
    [
        (lambda number: Queue(priority=number), 0, 1_000, "UC6305"),
        (lambda number: Queue(compute_reservation_percent=number), 0, 99, "UC6304"),
        (lambda number: Queue(share_decay_hours=number), 1, 168, "UC6313"),
        (lambda number: WaitLimits(exceeds_nodes=number), 1, 24, "UC6306"),
        (lambda number: OnDemand(max_nodes=number), 1, 1_000, "UC4101"),
        (lambda number: Spot(max_price_percent=number), 1, 100, "UC4125"),
        (lambda number: RootVolume(size_gib=number), 30, 65_536, "UC2252"),
        (lambda number: RootVolume(throughput=number), 125, 750, "UC2252"),
        (lambda number: Job(array_size=number), 2, 10_000, "UC6111"),
        (lambda number: Job(attempts=number), 1, 10, "UC6104"),
        (lambda number: Job(resume=number), 0, 100, "UC6117"),
    ],
)
def test_a_number_has_both_of_its_bounds(
    value: Callable[[int], Value], least: int, most: int, code: str
) -> None:
    for number, found in ((least - 1, [code]), (least, []), (most, []), (most + 1, [code])):
        assert [finding.code for finding in broken_bounds(value(number))] == found
