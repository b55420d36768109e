"""What of our rules CloudFormation Guard can say, as a file of its language."""

from importlib.resources import files

__all__ = ["guard_rules"]


def guard_rules() -> str:
    """The rules in the language of CloudFormation Guard, for any tool that runs it, the validator of the CDK among them."""
    return (files(__package__) / "ultracluster.guard").read_text(encoding="utf-8")
