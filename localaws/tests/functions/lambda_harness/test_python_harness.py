"""A Python handler in a process of its own."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local.functions.lambda_harness import python_harness

pytestmark = pytest.mark.slow

VARIABLES = {
    "PATH": os.environ["PATH"],
    "_HANDLER": "index.handler",
    "AWS_LAMBDA_FUNCTION_NAME": "f",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
    "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/f",
    "AWS_LAMBDA_LOG_STREAM_NAME": "stream",
    "LOCAL_AWS_FUNCTION_ARN": "arn:aws:lambda:us-east-1:123456789012:function:f",
}


def run(
    directory: Path, source: str, *events: Any, moment: str | None = None, **variables: str
) -> tuple[list[dict[str, Any]], str]:
    """Run a handler; return its answers to the events, None if none is given, and its log."""
    (directory / "index.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, python_harness.__file__],
        cwd=directory,
        env=VARIABLES | variables,
        input="".join(
            json.dumps({"event": event, "request": "r-1", "time": moment}) + "\n"
            for event in events or (None,)
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def response(directory: Path, source: str, **options: str) -> Any:
    """Run a handler and return its response to one event."""
    (answer,), _ = run(directory, source, **options)
    return json.loads(answer["response"])


def test_the_answer_is_on_standard_output_and_what_is_printed_is_the_log(tmp_path: Path) -> None:
    source = "def handler(event, context):\n    print('hello')\n    return {'twice': event['number'] * 2}\n"

    assert run(tmp_path, source, {"number": 4}) == (
        [{"failed": False, "response": '{"twice": 8}'}],
        "hello\n",
    )


def test_modules_and_their_variables_last_from_one_event_to_the_next(tmp_path: Path) -> None:
    source = "calls = []\ndef handler(event, context):\n    calls.append(event)\n    return calls\n"

    answers, _ = run(tmp_path, source, 1, 2)

    assert [json.loads(answer["response"]) for answer in answers] == [[1], [1, 2]]


def test_an_event_is_answered_after_one_that_failed(tmp_path: Path) -> None:
    answers, _ = run(tmp_path, "def handler(event, context):\n    return 1 / event\n", 0, 2)

    assert [(answer["failed"], answer["response"][:5]) for answer in answers] == [
        (True, '{"err'),
        (False, "0.5"),
    ]


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("def handler(event, context):\n    raise LookupError('no luck')\n", "LookupError", "no luck"),
        ("import absent\n", "ModuleNotFoundError", "No module named 'absent'"),
        ("", "AttributeError", "module 'index' has no attribute 'handler'"),
        (
            "def handler(event, context):\n    return object()\n",
            "TypeError",
            "Object of type object is not JSON serializable",
        ),
    ],
)
def test_a_failure_is_answered_by_its_type_and_message_and_logged(
    tmp_path: Path, source: str, kind: str, message: str
) -> None:
    (answer,), log = run(tmp_path, source)

    assert answer["failed"]
    assert json.loads(answer["response"]) == {"errorType": kind, "errorMessage": message}
    assert "Traceback" in log


def test_the_context_describes_the_function(tmp_path: Path) -> None:
    source = (
        "def handler(event, context):\n"
        "    left = context.get_remaining_time_in_millis()\n"
        "    return [context.aws_request_id, context.function_name, context.invoked_function_arn, context.log_stream_name, 0 < left <= 60_000]\n"
    )

    assert response(tmp_path, source) == ["r-1", "f", VARIABLES["LOCAL_AWS_FUNCTION_ARN"], "stream", True]


def test_a_handler_can_be_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "code.py").write_text("def main(event, context):\n    return 'deep'\n")

    assert response(tmp_path, "", _HANDLER="deep/code.main") == "deep"


def test_inline_code_finds_the_module_for_responses_unless_it_has_its_own(tmp_path: Path) -> None:
    source = "import cfnresponse\ndef handler(event, context):\n    return cfnresponse.SUCCESS\n"
    assert response(tmp_path, source) == "SUCCESS"

    (tmp_path / "cfnresponse.py").write_text("SUCCESS = 'own'\n")
    assert response(tmp_path, source) == "own"


def test_an_installed_package_does_not_complete_a_folder_of_the_handler(tmp_path: Path) -> None:
    (tmp_path / "yaml").mkdir()  # as a function that was packed without this module of it
    source = "import yaml.scanner\ndef handler(event, context):\n    return yaml.__file__\n"

    assert response(tmp_path, source) == {
        "errorType": "ModuleNotFoundError",
        "errorMessage": "No module named 'yaml.scanner'",
    }


def test_the_clock_of_the_process_starts_at_the_passed_time(tmp_path: Path) -> None:
    source = (
        "import time\nfrom datetime import datetime, timezone\n"
        "real = type(datetime.fromisoformat('2026-01-01'))\n"
        "def handler(event, context):\n"
        "    now = datetime.now(timezone.utc)\n"
        "    return [now.timestamp(), time.time(), isinstance(real(2026, 1, 1), datetime)]\n"
    )
    start = datetime(2030, 1, 1, tzinfo=UTC)

    now, seconds, same_type = response(tmp_path, source, moment=start.isoformat())

    assert same_type
    assert 0 <= now - start.timestamp() <= seconds - start.timestamp() < 30


def test_what_a_handler_starts_reads_no_event_and_writes_into_the_log(tmp_path: Path) -> None:
    source = (
        "import os, subprocess\n"
        "def handler(event, context):\n"
        "    os.write(1, b'raw ')\n"
        "    subprocess.run(['cat'])\n"
        "    subprocess.run(['echo', event])\n"
        "    return event\n"
    )

    answers, log = run(tmp_path, source, "one", "two")

    assert [json.loads(answer["response"]) for answer in answers] == ["one", "two"]
    assert log == "raw one\nraw two\n"


def test_a_handler_that_runs_when_the_events_end_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "index.py").write_text("import time\ndef handler(event, context):\n    time.sleep(60)\n")
    process = subprocess.Popen(
        [sys.executable, python_harness.__file__],
        cwd=tmp_path,
        env=VARIABLES,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )

    process.communicate(json.dumps({"event": None, "request": "r-1", "time": None}) + "\n")

    assert process.returncode == 1
