"""Cloud assemblies in parts, one for each cluster, so that an unchanged cluster is not synthesized again.

Synthesis is pure: the same cluster, packages, source and context give the same bytes. Nothing here imports aws_cdk.
"""

__all__: list[str] = []
