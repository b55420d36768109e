import pytest
from scale.__main__ import main


def test_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--chips", "2048", "--regions", "us-east-2, ap-south-2"])

    text = capsys.readouterr().out
    assert text.startswith("# 2,048 chips of trn2.48xlarge\n")
    assert "us-east-2, ap-south-2 and 1 account." in text


def test_an_assumption_is_replaced_and_the_report_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--chips", "64", "--assume", "failures_per_chip_day=0", "--assume", "block_days=7"])

    text = capsys.readouterr().out
    assert "| `failures_per_chip_day` | 0 |" in text
    assert "| `block_days` | 7 |" in text
    assert "The blocks end on days spread evenly over 7 days." in text


@pytest.mark.parametrize("given", ["failures=1", "block_days", "block_days=half", "queues_per_cluster=1.5"])
def test_an_unknown_or_malformed_assumption_is_refused(
    capsys: pytest.CaptureFixture[str], given: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--chips", "64", "--assume", given])

    assert "error:" in capsys.readouterr().err
