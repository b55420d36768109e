"""Nodes, exit codes and logs of a job that has ended."""

from tests.unit.runtime.jobs.recorded_jobs import Answers, by_name, explained


def test_nodes_with_one_exit_code_are_listed_together() -> None:
    said = by_name(explained(nodes=[{"exit": 137}] * 6))["exit-code-137"].evidence
    assert said.startswith("node 0, node 1, node 2, node 3 and 2 more ended with exit code 137: killed")


def test_logs_are_those_of_the_nodes_that_failed_first() -> None:
    stopped = [{"exit": 1, "stopped": 9 - index} for index in range(4)]
    answers = Answers({"nodes": [{"exit": 0, "status": "SUCCEEDED", "stopped": 1}, *stopped], "log": ["x"]})
    answers.explained()
    assert answers.logs_read == ["log of one#4", "log of one#3", "log of one#2"]


def test_a_fault_at_the_start_of_a_long_log_is_found() -> None:
    log = ["NET/OFI No eligible providers were found", *["step"] * 5_000, "ValueError: too bad"]
    explanation = explained(log=log, exit=1)
    assert "efa-fallback-to-sockets" in by_name(explanation)
    assert explanation.last_lines[-1] == "ValueError: too bad"
    assert len(explanation.last_lines) == 15


def test_lines_for_cloudwatch_are_neither_searched_nor_shown() -> None:
    explanation = explained(log=['{"_aws": {"x": "No space left on device"}}', "end"], exit=1)
    assert explanation.last_lines == ("end",)
    assert "file-system-full" not in by_name(explanation)


def test_a_log_that_cannot_be_read_is_said() -> None:
    (unseen,) = explained(refused=True, exit=1).unseen
    assert unseen.startswith("the log of the container: An error occurred (AccessDeniedException)")


def test_a_reason_without_a_known_fault_is_shown_as_it_is() -> None:
    said = by_name(explained(reason="SomethingNewError: x"))["container-failed"]
    assert said.evidence == "AWS Batch reports of the container: SomethingNewError: x"


def test_a_log_without_a_line_is_told_from_one_that_was_not_read() -> None:
    assert explained(exit=1).wrote_nothing
    assert not explained(exit=1, log=["x"]).wrote_nothing
    assert not explained(exit=1, refused=True).wrote_nothing


def test_last_lines_are_shown_as_a_terminal_would_and_cut() -> None:
    log = ["\x1b[31mERROR\x1b[0m loss nan", " 10%|#\r 20%|##\r", "x" * 501, "y" * 500]
    red, bar, long, whole = explained(exit=1, log=log).last_lines
    assert (red, bar) == ("ERROR loss nan", " 20%|##")
    assert (len(long), long[-1], whole) == (501, "…", "y" * 500)


def test_a_node_that_failed_is_named_although_the_job_succeeded() -> None:
    nodes = [{"exit": 0, "status": "SUCCEEDED"}, {"exit": 1}, {"exit": 137}]
    said = by_name(explained(nodes=nodes, status="SUCCEEDED"))["node-failed"]
    assert said.evidence.startswith("node 1 (exit code 1) failed; ")
    nodes = [{"exit": 0, "status": "SUCCEEDED"}, {"exit": 143}]
    assert "node-failed" not in by_name(explained(nodes=nodes, status="SUCCEEDED"))


def test_a_node_that_ended_is_named_while_the_others_wait_for_it_unless_it_ends_the_job() -> None:
    running = {"exit": None, "status": "RUNNING", "stopped": 0}
    said = by_name(explained(nodes=[running, {"exit": 1}], status="RUNNING"))["node-ended"]
    assert said.evidence.startswith("node 1 ended and the job goes on")
    assert "node-ended" not in by_name(explained(nodes=[{"exit": 1}, running], status="RUNNING"))
