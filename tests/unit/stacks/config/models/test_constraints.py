"""A rule for one value is a validator and a part of the JSON schema."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from ultracluster_rules import values
from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.models.constraints import Constraint, NotEmpty, refusal, resource_id

COUNT = Constraint(values.Between(code="UC4101", least=1, most=3))
NAME = Constraint(values.Known(code="UC4002", names=("batch", "all-efa"), explain=lambda _: ""))
SUBNET = resource_id("subnet", code="UC3107")


def code_of(kind: Any, value: object) -> str | None:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return str(error.errors()[0]["type"])
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
        (Annotated[tuple[int, ...], Constraint(NotEmpty())], [(1,)], [()], "UC1024"),
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
        items: Annotated[tuple[int, ...], Constraint(NotEmpty())]

    schema = Model.model_json_schema()["properties"]

    assert (schema["count"]["minimum"], schema["count"]["maximum"]) == (1, 3)
    assert schema["name"]["enum"] == ["batch", "all-efa"]
    assert schema["subnet"]["pattern"].startswith("^(?:subnet-")
    assert schema["items"]["minItems"] == 1


def test_a_refusal_carries_the_finding() -> None:
    finding = Finding(code="UC4101", problem="got 0", allowed="1 to 3")
    error = refusal(finding)

    assert error.type == "UC4101"
    assert error.message() == "got 0. Allowed: 1 to 3."
    assert error.context is not None
    assert error.context["finding"] is finding
