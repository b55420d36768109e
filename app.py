"""The CDK app: the clusters of the rollout file that the context names (``cdk deploy '**' -c rollout=FILE``)."""

import sys

import aws_cdk as cdk

from ultracluster_catalog.findings import FindingsError
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.rollout import define_rollout

app = cdk.App(analytics_reporting=False, tree_metadata=False)
try:
    loaded = load_rollout(app.node.get_context("rollout"))
    define_rollout(app, loaded.config, wave=app.node.try_get_context("wave"))
except FindingsError as error:
    sys.stderr.write(f"{error}\n")
    sys.exit(2)
app.synth()
