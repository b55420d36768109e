"""Read the templates for `ultracluster validate`: JSON or YAML files, and cloud assemblies."""

from ultracluster_stacks.check.reading import read_templates

__all__ = ["read_templates"]
