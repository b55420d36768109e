"""The CDK app: the clusters of the rollout file that the context names (``cdk deploy '**' -c rollout=FILE``)."""

import gc
import sys

# What is imported lives to the end. Looking through it for garbage, now and at the end, takes a fifth of the import.
gc.disable()

from ultracluster_stacks.synthesis import main  # noqa: E402

gc.freeze()
gc.enable()

sys.exit(main())
