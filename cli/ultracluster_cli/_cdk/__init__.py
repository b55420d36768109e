"""The CDK CLI: toolchain, child processes and cloud assemblies."""

__all__: list[str] = []
