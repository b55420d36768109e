"""The local AWS as the account of the command line."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from moto.ec2.responses import EC2Response
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


@pytest.fixture
def record_calls(
    local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Iterable[str]], list[str]]:
    """Record the calls of these names that reach the local AWS, refused ones and dry runs included."""
    del local_aws

    def start(names: Iterable[str]) -> list[str]:
        seen: list[str] = []
        for name in names:
            answer = getattr(EC2Response, name, None)

            def record(self: Any, name: str = name, answer: Any = answer) -> Any:
                seen.append(name)
                return answer(self)

            monkeypatch.setattr(EC2Response, name, record, raising=False)
        return seen

    return start
