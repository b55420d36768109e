"""The CDK app: the clusters of the rollout file that the context names (``cdk deploy '**' -c rollout=FILE``)."""

import sys

from ultracluster_stacks.synthesis.app import main

sys.exit(main())
