"""The CDK CLI: toolchain, child processes and cloud assemblies."""
