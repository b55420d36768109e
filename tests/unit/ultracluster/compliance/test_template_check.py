"""Our rules for templates as a plugin of the CDK, in an app with a stage."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3

from ultracluster import TemplateCheck
from ultracluster_checks.table import template_codes
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

Reports = dict[str, Any]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """The report of an app with a bucket that goes with its stack, and a group that another stack gives to EFA nodes."""
    folder = tmp_path_factory.mktemp("plugin")
    app = cdk.App(outdir=str(folder))
    stage = cdk.Stage(app, "Stage", env=cdk.Environment(region="us-east-2"))
    network, nodes = cdk.Stack(stage, "Network"), cdk.Stack(stage, "Nodes")
    group = ec2.CfnSecurityGroup(network, "Group", group_description="EFA")
    kept = s3.CfnBucket(nodes, "Kept")
    kept.add_metadata("ultracluster", {"skip": {"UC5201": "made anew each night"}})
    s3.CfnBucket(nodes, "Lost")
    template = ec2.CfnLaunchTemplate
    template(
        nodes,
        "Template",
        launch_template_data=template.LaunchTemplateDataProperty(
            network_interfaces=[
                template.NetworkInterfaceProperty(
                    device_index=0, interface_type="efa", groups=[group.attr_group_id]
                )
            ]
        ),
    )
    cdk.Validations.of(app).add_plugins(TemplateCheck(skip={"UC3203": "the addresses are kept on purpose"}))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    return json.loads((folder / "validation-report.json").read_text())


def _violations(reports: Reports) -> list[tuple[str, str]]:
    (report,) = [each for each in reports["pluginReports"] if each["pluginName"] == "ultracluster"]
    return [
        (violation["ruleName"], construct["constructPath"])
        for violation in report["violations"]
        for construct in violation["violatingConstructs"]
    ]


def test_a_synthesis_fails_by_our_rules(reports: Reports) -> None:
    found = _violations(reports)

    assert ("UC5201", "Stage/Nodes/Lost") in found
    assert ("UC4207", "Stage/Nodes/Template") in found


def test_what_is_left_out_is_left_out(reports: Reports) -> None:
    found = _violations(reports)

    assert ("UC5201", "Stage/Nodes/Kept") not in found
    assert "UC3203" not in {code for code, _ in found}


def test_stacks_are_looked_at_together(reports: Reports) -> None:
    assert ("UC3201", "Stage/Network/Group") in _violations(reports)


def test_a_good_app_is_synthesized(tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path))
    cdk.Stack(app, "Empty")
    cdk.Validations.of(app).add_plugins(TemplateCheck())

    assert app.synth().stacks


def test_the_plugin_names_its_rules() -> None:
    assert set(TemplateCheck(skip={"UC5201": "reason"}).rule_ids) == template_codes() - {"UC5201"}


def test_what_may_not_be_left_out_is_refused() -> None:
    with pytest.raises(FindingsError, match=r"UC9509: \S+: UC6425"):
        TemplateCheck(skip={"UC6425": "because"})
