"""The smallest CDK app: one resource."""

import aws_cdk as cdk
from aws_cdk import aws_sns as sns

app = cdk.App()
stack = cdk.Stack(app, "Hello")
sns.CfnTopic(stack, "Topic")
app.synth()
