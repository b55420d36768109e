"""Check the templates of a cluster against our rules. Imports only the standard library and the catalogue.

`check_templates` runs them. Each module has the rules of one subject; `ultracluster_checks.table` lists them all.
"""

from ultracluster_checks.check import CheckReport, LeftOut, check_templates
from ultracluster_checks.model.template import Source

__all__ = ["CheckReport", "LeftOut", "Source", "check_templates"]
