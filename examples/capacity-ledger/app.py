"""What an account needs before it can buy capacity: the ledger, two roles, and a guard in each Region.

Change the values below, then: cdk deploy --all --app "python3 examples/capacity-ledger/app.py"
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from ultracluster import CapacityGuard
from ultracluster_stacks.stacks.capacity_stack import CapacityStack

HOME_REGION = "us-east-2"  # of the ledger; do not change it later
OTHER_REGIONS = ["ap-southeast-4"]  # REPLACE: where you buy too, or none; bootstrap each for the CDK
EMAILS = ["capacity@example.com"]  # REPLACE: each recipient confirms an email from AWS
# REPLACE with the roles that buy and search, such as iam.ArnPrincipal("arn:aws:iam::…:role/…").
# The root principal stands for every principal of the account that has permission to assume the role.
BUYERS = iam.AccountRootPrincipal()
SEARCHERS = iam.AccountRootPrincipal()

app = cdk.App()
CapacityStack(
    app,
    "Capacity",
    env=cdk.Environment(region=HOME_REGION),
    buyers=BUYERS,
    searchers=SEARCHERS,
    regions=[HOME_REGION, *OTHER_REGIONS],
    instance_types=["trn2.48xlarge", "trn1.32xlarge"],
    max_instances=16,
    emails=EMAILS,
)
for region in OTHER_REGIONS:
    stack = cdk.Stack(app, f"CapacityGuard-{region}", env=cdk.Environment(region=region))
    CapacityGuard(stack, "Guard", emails=EMAILS)
app.synth()
