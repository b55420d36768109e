import pytest

from ultracluster_stacks.plan import StackTemplate, check_headroom, headroom


def stack(name: str, *, resources: int = 1, outputs: int = 0, size: int = 100) -> StackTemplate:
    return StackTemplate(
        cluster="a",
        name=name,
        region="us-east-2",
        size_bytes=size,
        template={
            "Resources": {f"R{number}": {"Type": "AWS::SNS::Topic"} for number in range(resources)},
            "Outputs": {f"O{number}": {"Value": ""} for number in range(outputs)},
        },
    )


def test_names_the_fullest_stack_by_each_limit() -> None:
    found = headroom([stack("a", resources=9), stack("b", outputs=3), stack("c", size=2000)])

    assert [str(each) for each in found] == [
        "9 of 500 resources in a",
        "3 of 200 outputs in b",
        "2,000 of 1,000,000 bytes in c",
    ]
    assert headroom([]) == ()


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({"resources": 399, "outputs": 159, "size": 799_999}, []),
        ({"resources": 400}, ["UC9651"]),
        ({"resources": 500}, ["UC9651"]),
        ({"resources": 501}, ["UC9650"]),
        ({"outputs": 200}, ["UC9651"]),
        ({"outputs": 201}, ["UC9650"]),
        ({"size": 1_000_000}, ["UC9651"]),
        ({"size": 1_000_001}, ["UC9650"]),
    ],
)
def test_warns_near_a_limit_and_refuses_beyond_it(given: dict[str, int], codes: list[str]) -> None:
    assert [finding.code for finding in check_headroom([stack("a", **given)])] == codes
