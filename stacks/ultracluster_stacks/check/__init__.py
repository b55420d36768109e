"""Read the templates for `ultracluster validate`: JSON or YAML files, and cloud assemblies."""

from ultracluster_stacks.check.reading import is_template, read_templates

__all__ = ["is_template", "read_templates"]
