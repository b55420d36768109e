"""A rule for one value is a validator of the file and a part of the JSON schema."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from ultracluster_rules.findings import Finding
from ultracluster_rules.values import Between, Checked, Known, NotEmpty
from ultracluster_spec.names import resource_id

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
