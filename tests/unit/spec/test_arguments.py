from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Required, TypedDict, Unpack

import pytest

from ultracluster_spec.arguments import ArgumentsError, validate_arguments, validate_fields
from ultracluster_spec.findings import FindingsError

TOKEN = -1.8881545897087626e289  # as the CDK writes a number that is not known yet


@validate_arguments
def take(
    *,
    nodes: int | None = None,
    price: float = 1,
    parts: Mapping[str, int] | None = None,
    percents: Sequence[float] = (),
    level: Literal[1, 2] | None = None,
    name: str = "",
) -> tuple[object, ...]:
    return nodes, price, parts, percents, level, name


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    most: int | None = None

    def __post_init__(self) -> None:
        validate_fields(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot(Source):
    percent: float = 100


def test_says_which_numbers_jsii_cannot_carry_all_at_once() -> None:
    with pytest.raises(FindingsError) as refused:
        take(nodes=2**53, price=float("nan"), parts={"a": 1, "b": 3.5}, percents=[50, True])  # type: ignore[dict-item]

    assert str(refused.value).splitlines() == [
        "UC1030: nodes: got 9007199254740992. Allowed: a whole number between -2^53 and 2^53.",
        "UC1030: price: got nan. Allowed: a finite number.",
        "UC1030: parts.b: got 3.5. Allowed: a whole number.",
        "UC1030: percents[1]: got True. Allowed: a finite number.",
    ]


def test_a_duration_in_place_of_a_number_is_told_how_it_becomes_one() -> None:
    class Length:
        def to_minutes(self) -> float:
            return 5.0

    @validate_arguments
    def wait(idle_minutes: int, nodes: int = 1) -> None: ...

    with pytest.raises(FindingsError) as refused:
        wait(Length(), nodes=Length())  # type: ignore[arg-type]

    length = "UC1030: nodes: got an object of Length. Allowed: a whole number."
    assert str(refused.value).splitlines() == [
        f"{length.replace('nodes', 'idle_minutes')} Pass int(given.to_minutes()), a number in the unit of the name.",
        length,
    ]


def test_an_argument_by_position_is_checked_as_one_by_name() -> None:
    @validate_arguments
    def move(name: str, nodes: int = 1) -> tuple[str, int]:
        return name, nodes

    assert move("train", 2) == ("train", 2)
    with pytest.raises(FindingsError, match="UC1030: nodes: got nan"):
        move("train", float("nan"))  # type: ignore[arg-type]
    with pytest.raises(FindingsError, match="UC1032: name: got 4"):
        move(4)  # type: ignore[arg-type]


def test_takes_what_jsii_carries() -> None:
    assert take(nodes=2**53 - 1, price=0.5, parts={"a": -5}, percents=(1, 99.9), level=2)[0] == 2**53 - 1
    assert take(nodes=None)[0] is None
    assert Spot(most=4, percent=0.1).most == 4


def test_refuses_tokens_because_constructs_compute_with_numbers() -> None:
    with pytest.raises(FindingsError) as refused:
        take(nodes=TOKEN, price=TOKEN)  # type: ignore[arg-type]

    assert str(refused.value).splitlines()[1] == (
        "UC1030: price: got a token, which has no value before deployment. Allowed: a finite number."
    )


def test_looks_at_the_fields_of_a_dataclass_and_of_those_that_it_extends() -> None:
    with pytest.raises(FindingsError) as refused:
        Spot(most=4.0, percent=float("inf"))  # type: ignore[arg-type]

    assert [finding.path for finding in refused.value.findings] == ["most", "percent"]


def test_says_which_types_an_argument_takes() -> None:
    with pytest.raises(FindingsError) as refused:
        take(
            nodes="4",  # type: ignore[arg-type]
            parts=[1],  # type: ignore[arg-type]
            percents=50,  # type: ignore[arg-type]
            name=object,  # type: ignore[arg-type]
        )

    allowed = {finding.path: finding.allowed for finding in refused.value.findings}
    assert allowed == {
        "nodes": "a whole number",
        "parts": "a dictionary or None",
        "percents": "a list of numbers",
        "name": "a text",
    }


@validate_arguments
def place(*, placement: Literal["auto", "none"] | Source | None = None, name: str = "a") -> None:
    """An argument of some words or an object, and one of any text."""


def test_a_word_that_is_no_choice_of_an_argument_is_refused() -> None:
    with pytest.raises(
        FindingsError, match=r"UC1023: placement: got 'cluster'\. Allowed: auto, none, Source\."
    ):
        place(placement="cluster")  # type: ignore[arg-type]

    place(placement="none", name="anything")
    place(placement=None)


class Scope:
    """What a construct looks like to this package."""

    class node:  # noqa: N801 - the name of the CDK
        path = "Training"


class Options(TypedDict, total=False):
    image: Required[str]
    nodes: int


@validate_arguments
def make(scope: Scope, construct_id: str, *, capacity: str = "", **options: Unpack[Options]) -> str:
    return f"{scope}{construct_id}{options}" if capacity else "".upper(1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"capcity": "spot", "image": "i"},
            "make() got an unexpected keyword argument 'capcity'. Allowed: scope, construct_id, capacity, image, nodes. Did you mean 'capacity'?",
        ),
        ({}, "make() missing the required keyword argument 'image'."),
    ],
)
def test_an_argument_that_is_unknown_or_missing_is_a_type_error_at_the_construct(
    arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError) as refused:
        make(Scope(), "Cluster", **arguments)

    assert str(refused.value) == f"error: Training/Cluster: {said}"


def test_an_id_that_is_a_token_is_refused_at_its_scope() -> None:
    with pytest.raises(
        FindingsError, match=r"^UC1032: Training: construct_id: got a token, .* Allowed: a text\.$"
    ):
        make(Scope(), "${Token[AWS.Region.5]}", image="i")


def test_a_missing_scope_is_one_line_too() -> None:
    with pytest.raises(
        ArgumentsError, match=r"error: Cluster: make\(\) missing 1 required positional argument: 'scope'"
    ):
        make(construct_id="Cluster", image="i")  # type: ignore[call-arg]


def test_a_type_error_of_the_body_passes() -> None:
    with pytest.raises(TypeError, match="takes no arguments") as raised:
        make(Scope(), "Cluster", image="i")

    assert not isinstance(raised.value, ArgumentsError)
