"""A stack set deploys exported templates one after the other."""

from tests.unit.stacks.exported_templates import IMAGE, ZONE, exported

from ultracluster_stacks.export import stack_set_template


def test_stack_sets_come_one_after_the_other_and_pass_the_parameters_of_their_templates() -> None:
    first = exported({"Type": "A::B::C", "Properties": {"P": ZONE}})
    second = exported({"Type": "A::B::C", "Properties": {"P": IMAGE}})

    whole = stack_set_template("a-us-east-2", [("Network", first), ("Cluster", second)], region="us-east-2")

    network, cluster = (whole["Resources"][name] for name in ("Network", "Cluster"))
    assert "DependsOn" not in network
    assert cluster["DependsOn"] == ["Network"]
    assert network["Properties"]["Parameters"] == [
        {"ParameterKey": "ZoneId", "ParameterValue": {"Ref": "ZoneId"}}
    ]
    assert whole["Parameters"]["ImageId"]["Type"] == "String"
    assert not network["Properties"]["AutoDeployment"]["Enabled"]
