"""What an account or a Region has once, and no cluster has by itself."""

import aws_cdk as cdk

from ultracluster import DatasetBucket, PullThroughCache, RegionsDashboard, TrainingImageRepository

app = cdk.App()
stack = cdk.Stack(app, "Account", env=cdk.Environment(account="123456789012", region="us-east-2"))
PullThroughCache(stack, "Gallery")
TrainingImageRepository(stack, "Images")
DatasetBucket(stack, "Corpus")
RegionsDashboard(stack, "All", clusters=[("quickstart", "us-east-2"), ("finetune", "ap-southeast-4")])
app.synth()
