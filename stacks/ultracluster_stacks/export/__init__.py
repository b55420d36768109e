"""Templates for teams that deploy without the CDK, with parameters for values that differ between deployments."""

from ultracluster_stacks.export.stack_set import stack_set_template
from ultracluster_stacks.export.templates import BUCKET_PARAMETER, exported_template, text_of

__all__ = ["BUCKET_PARAMETER", "exported_template", "stack_set_template", "text_of"]
