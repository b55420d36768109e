"""A fake CDK CLI, installed like by npm."""

import json
import sys
from pathlib import Path

__all__ = ["install_cdk"]


def install_cdk(project: Path, program: str) -> None:
    """Install one.

    Args:
        project: Folder of the project.
        program: Its source in Python, which runs without site-packages.
    """
    package = project / "node_modules" / "aws-cdk"
    cdk = package / "bin" / "cdk"
    cdk.parent.mkdir(parents=True)
    cdk.write_text(f"#!{sys.executable} -S\n{program}")
    cdk.chmod(0o755)
    (package / "package.json").write_text(json.dumps({"name": "aws-cdk", "version": "2.1148.1"}))
    link = project / "node_modules" / ".bin" / "cdk"
    link.parent.mkdir()
    link.symlink_to("../aws-cdk/bin/cdk")
