"""Each construct that wraps one main resource has it as its default child, to override what no argument sets."""

import aws_cdk as cdk
import aws_cdk.assertions
import pytest
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, STANDING_ORDER, block, new_stack

import ultracluster as uc
from ultracluster import Job
from ultracluster.operations.cluster_watch import ClusterWatch

pytestmark = pytest.mark.slow

# Several resources, none of which is the main one.
OF_SEVERAL = {uc.BakeOff, uc.ClusterAlarms, uc.UltraCluster}


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    stack = new_stack()
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=2,
        image_id=IMAGE_ID,
        capacity=block(),
        alarms=uc.Alarms(emails=["jane@example.com"]),
    )
    cluster.add_multi_node_job("Job", Job(image=IMAGE, command=("train.py",)))
    uc.ClusterBudget(stack, "Budget", monthly_usd=5, tag_value="train", emails=["jane@example.com"])
    uc.ClusterDashboard(stack, "Dashboard", cluster=cluster)
    uc.RegionsDashboard(stack, "Regions", clusters=[("train", "us-east-2")])
    uc.ClusterKey(stack, "Key")
    uc.ClusterPlacement(stack, "Placement")
    uc.DatasetBucket(stack, "Dataset")
    ledger = uc.CapacityLedger(stack, "Ledger")
    uc.CapacityGuard(stack, "Guard", emails=["jane@example.com"])
    uc.CapacityWatch(stack, "CapacityWatch", order=STANDING_ORDER, instance_type="trn2.48xlarge")
    uc.CapacitySearchRole(stack, "Search", trusted_by=iam.AccountRootPrincipal())
    uc.CapacityPurchaseRole(
        stack,
        "Purchase",
        trusted_by=iam.AccountRootPrincipal(),
        ledger=ledger,
        regions=["us-east-2"],
        instance_types=["trn2.48xlarge"],
        max_instances=4,
    )
    uc.TrainingImageRepository(stack, "Images")
    uc.SageMakerTrainingQueue(stack, "SageMaker", instances={"ml.trn2.48xlarge": 4})
    uc.CompileCache(stack, "Cache")
    return stack


def test_constructs_of_one_main_resource_have_it_as_default_child(stack: cdk.Stack) -> None:
    offered = {getattr(uc, name) for name in uc.__all__}
    ours = [each for each in stack.node.find_all() if type(each) in offered]

    assert {type(each) for each in ours} >= {
        ClusterWatch,
        uc.ClusterNetwork,
        uc.CompileCache,
        uc.MultiNodeJob,
    }
    assert [
        each.node.path
        for each in ours
        if type(each) not in OF_SEVERAL and not isinstance(each.node.default_child, cdk.CfnResource)
    ] == []
