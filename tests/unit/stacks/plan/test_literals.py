"""What a template decides by itself is worked out before templates are compared; what a deployment decides is not."""

from typing import Any

from ultracluster_stacks.plan import Action, StackTemplate, compare
from ultracluster_stacks.plan.literals import resolved


def stack(**template: Any) -> StackTemplate:
    return StackTemplate(cluster="", name="s", region="us-east-2", template=template)


def resource(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::FSx::FileSystem", "Properties": properties}


def test_mappings_are_read_by_region_and_in_nested_values() -> None:
    template = stack(
        Mappings={"Zones": {"us-east-2": {"subnets": ["a", "b"], "size": 4800}}},
        Resources={
            "Files": resource(
                SubnetIds={"Fn::FindInMap": ["Zones", {"Ref": "AWS::Region"}, "subnets"]},
                Tags=[{"Key": "size", "Value": {"Fn::FindInMap": ["Zones", "us-east-2", "size"]}}],
            )
        },
    )

    assert resolved(template).resources["Files"]["Properties"] == {
        "SubnetIds": ["a", "b"],
        "Tags": [{"Key": "size", "Value": 4800}],
    }


def test_conditions_over_literals_decide_resources_branches_and_outputs() -> None:
    template = stack(
        Conditions={
            "Here": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-2"]},
            "There": {"Fn::Not": [{"Condition": "Here"}]},
        },
        Resources={
            "Files": resource(KmsKeyId={"Fn::If": ["Here", {"Ref": "AWS::NoValue"}, "k"]})
            | {"Condition": "Here"},
            "Gone": resource() | {"Condition": "There"},
        },
        Outputs={"Id": {"Condition": "There", "Value": "x"}},
    )

    assert resolved(template).resources == {"Files": resource()}
    assert resolved(template).template["Outputs"] == {}


def test_parameters_circles_and_unknown_keys_stay_as_they_are() -> None:
    resources = {
        "Files": resource(A={"Fn::FindInMap": ["Zones", {"Ref": "Place"}, "x"]}, B={"Fn::If": ["P", 1, 2]}),
        "Circle": resource() | {"Condition": "C"},
    }
    template = stack(
        Parameters={"Place": {"Type": "String", "Default": "here"}},
        Mappings={"Zones": {"here": {"x": 1}}},
        Conditions={"P": {"Fn::Equals": [{"Ref": "Place"}, "here"]}, "C": {"Condition": "C"}},
        Resources=resources,
    )

    assert resolved(template).resources == resources


def test_another_condition_or_mapping_that_a_parameter_selects_is_followed() -> None:
    def given(value: str, size: int) -> StackTemplate:
        return stack(
            Parameters={"Place": {"Type": "String", "Default": "here"}},
            Mappings={"Sizes": {"here": {"gib": size}}},
            Conditions={
                "Inner": {"Fn::Equals": [{"Ref": "Place"}, value]},
                "Outer": {"Fn::Not": [{"Condition": "Inner"}]},
            },
            Resources={
                "Chosen": resource(KmsKeyId={"Fn::If": ["Outer", "a", "b"]}),
                "Sized": resource(StorageCapacity={"Fn::FindInMap": ["Sizes", {"Ref": "Place"}, "gib"]}),
                "There": resource() | {"Condition": "Outer"},
                "Apart": resource(StorageCapacity=1200),
            },
        )

    (same,) = compare([given("here", 1)], [given("here", 1)]).stacks
    (other,) = compare([given("here", 1)], [given("there", 2)]).stacks

    assert same.changes == ()
    assert {change.logical_id: change.action for change in other.changes} == {
        "Chosen": Action.MAY_REPLACE,
        "Sized": Action.UPDATE,
        "There": Action.MAY_REPLACE,
    }
    assert all(change.stops for change in other.changes)
