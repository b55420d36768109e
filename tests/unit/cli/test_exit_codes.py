"""An exit code has one meaning."""

from ultracluster_cli.exit_codes import ExitCode, exit_code_of
from ultracluster_spec.findings import Finding


def test_every_exit_code_has_one_meaning() -> None:
    assert len({code.meaning for code in ExitCode}) == len(ExitCode) == len({int(code) for code in ExitCode})
    assert exit_code_of([Finding.message("x")]) == ExitCode.FINDINGS
    assert exit_code_of([Finding(code="UC7036", problem="x")]) == ExitCode.UNKNOWN
    assert exit_code_of([Finding(code="UC7051", problem="x")]) == ExitCode.FAILED
