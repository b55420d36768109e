"""Values that describe a cluster, in Python and YAML.

The rules about a value stand beside it. Import the modules; users import the values from `ultracluster`.
"""

__all__: list[str] = []
