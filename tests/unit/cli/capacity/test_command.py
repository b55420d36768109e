"""`ultracluster capacity`: options, confirmation and output, without AWS."""

import pytest
from tests.unit.cli.capacity.find_arguments import BETWEEN, FIND

from ultracluster_cli.main import main


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["capacity", "find", "--days", "14", *BETWEEN], "UC7010"),
        ([*FIND, *BETWEEN, "--ultraservers", "2"], "UC7010"),
        (["capacity", "find", "--nodes", "16", "--days", "14", *BETWEEN], "UC7010"),
        (["capacity", "find", *FIND[2:4], "--ultraservers", "1", "--days", "14", *BETWEEN], "UC7010"),
        ([*FIND, *BETWEEN, "--nodes", "65"], "error: --nodes: got 65"),
        ([*FIND, *BETWEEN, "--days", "two"], "error: --days: got 'two'"),
        ([*FIND, *BETWEEN, "--days", "15"], "UC7101"),
        ([*FIND, *BETWEEN, "--prefer", "beauty"], "error: --prefer: got 'beauty'"),
        ([*FIND, "--between", "soon", "later"], "error: --between: got 'soon'"),
        ([*FIND, "--between", "2027-01-15", "2026-12-01"], "UC7014"),
        ([*FIND, "--between", "2025-01-15", "2025-12-01"], "UC7014"),
        (["capacity", "status"], "UC7021"),
        (["capacity", "buy", "december"], "UC7021"),
        ([*FIND, *BETWEEN, "--profile", "nobody"], "UC9009"),
    ],
)
def test_an_invalid_command_line_is_a_finding(
    arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(code)
