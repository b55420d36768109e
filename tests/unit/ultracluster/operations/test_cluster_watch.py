"""The watch of a cluster reads its queues and reservations."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import RESERVATION

pytestmark = pytest.mark.slow


def test_the_watch_looks_at_every_queue(watched: cdk.Stack) -> None:
    template = cdk.assertions.Template.from_stack(watched)
    (function,) = [
        each["Properties"]
        for name, each in template.find_resources("AWS::Lambda::Function").items()
        if name.startswith("ClusterWatch")
    ]
    variables = function["Environment"]["Variables"]
    assert variables["UC_RESERVATIONS"] == RESERVATION
    assert variables["UC_WITHOUT_RESERVATION"] == "no"
    queues = [
        each["Fn::GetAtt"][0] for each in variables["UC_JOB_QUEUES"]["Fn::Join"][1] if isinstance(each, dict)
    ]
    assert set(queues) == set(template.find_resources("AWS::Batch::JobQueue"))
