"""Warnings of ours that the CDK shows."""

from constructs import IConstruct


def shown(scope: IConstruct) -> list[str]:
    """The codes of the warnings of ours that the CDK shows."""
    return [
        str(entry.data).partition(":")[0]
        for node in scope.node.find_all()
        for entry in node.node.metadata
        if entry.type == "aws:cdk:warning" and "ultracluster:UC" in str(entry.data)
    ]
