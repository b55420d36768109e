"""Closing the queues of a cluster; test_function_faults.py runs it on two queues, with every fault of AWS."""

from pathlib import Path

from ultracluster_runtime.functions import close_queues


def test_source_fits_into_a_template() -> None:
    text = Path(close_queues.__file__).read_text("utf-8")

    assert len(text) < 4096  # of inline code, CloudFormation guide, AWS::Lambda::Function Code, read 2026-11
