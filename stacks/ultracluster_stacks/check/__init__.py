"""Reading the templates that `ultracluster check` looks at: files in JSON or YAML, and cloud assemblies."""

from ultracluster_stacks.check.reading import read_templates

__all__ = ["read_templates"]
