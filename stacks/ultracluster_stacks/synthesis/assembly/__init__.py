"""A cache of cloud assemblies, one part per cluster, so that unchanged clusters are not synthesized again.

Synthesis is deterministic: the same cluster, packages, source and context produce the same bytes. Nothing here
imports aws_cdk.
"""
