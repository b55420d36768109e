"""The local AWS as the account of the command line."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.integration.quickstart_block import REGION

from ultracluster_cli.main import main
from ultracluster_local import LocalAws


@pytest.fixture
def account(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    """The local AWS, to which the credentials of this process lead."""
    for name, value in local_aws.environment(REGION).items():
        monkeypatch.setenv(name, value)
    return local_aws


@pytest.fixture
def jobs(account: LocalAws, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run `ultracluster jobs`; return its JSON, or what it said."""
    del account

    def run(*arguments: str, exits: int = 0) -> Any:
        code = main(["jobs", *arguments])
        out, err = capsys.readouterr()
        assert code == exits, (out, err)
        return json.loads(out) if out.startswith("{") else out + err

    return run
