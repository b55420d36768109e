"""An execution environment answers the next event of the same function, as on AWS Lambda."""

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.functions.lambda_harness.test_python_harness import VARIABLES

from ultracluster_local.functions import execution_environment, lambda_harness
from ultracluster_local.functions.execution_environment import Answer, end_environments, invoke

pytestmark = pytest.mark.slow

HARNESS = [sys.executable, str(Path(lambda_harness.__file__).with_name("python_harness.py"))]
COUNT = """
import os, time
count = 0
def handler(event, context):
    global count
    count += 1
    print("call", count, flush=True)
    time.sleep(event)
    return [os.getpid(), count]
"""


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    end_environments()
    yield
    end_environments()


def ask(directory: Path, event: object, *, seconds: float = 30, **variables: str) -> Answer:
    return invoke(HARNESS, directory, VARIABLES | variables, event, moment=None, timeout=3, seconds=seconds)


def answered(directory: Path, event: object = 0, **variables: str) -> Any:
    return json.loads(ask(directory, event, **variables).response)


def error(answer: Answer) -> tuple[str, str]:
    """Kind and message of an error, without the ID of the request."""
    assert answer.failed
    said = json.loads(answer.response)
    return said["errorType"], re.sub(r"^RequestId: [0-9a-f-]{36} Error: ", "", said["errorMessage"])


def function(tmp_path: Path, name: str) -> Path:
    """The code of a function, in its folder."""
    directory = tmp_path / name / "code"
    directory.mkdir(parents=True)
    (directory / "index.py").write_text(COUNT)
    return directory


@pytest.fixture
def code(tmp_path: Path) -> Path:
    return function(tmp_path, "function")


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_same_function_is_called_in_the_same_process(code: Path) -> None:
    (first, one), (second, two) = answered(code), answered(code)

    assert (first, one, two) == (second, 1, 2)


def test_each_log_holds_what_its_own_call_printed(code: Path) -> None:
    logs = [answer.log for answer in (ask(code, 0), ask(code, 0))]

    assert logs == ["call 1\n", "call 2\n"]


def test_other_settings_take_another_process_and_end_the_former(code: Path) -> None:
    first, _ = answered(code, CHOSEN="one")
    second, count = answered(code, CHOSEN="two")

    assert first != second
    assert count == 1
    assert is_gone(first)


def test_a_call_after_one_in_a_process_of_another_function_finds_its_own(tmp_path: Path) -> None:
    one, two = function(tmp_path, "one"), function(tmp_path, "two")
    (first, _), (second, _) = answered(one), answered(two)

    assert [answered(one), answered(two)] == [[first, 2], [second, 2]]


def test_each_call_sees_the_time_of_the_local_aws_at_its_moment(code: Path) -> None:
    (code / "index.py").write_text(
        "import time\nfrom datetime import datetime, timezone\n"
        "def handler(event, context):\n    return [int(time.time()), datetime.now(timezone.utc).year]\n"
    )
    moments = ["2030-01-01T00:00:00+00:00", "2031-01-01T00:00:00+00:00", None]

    seen = [
        json.loads(invoke(HARNESS, code, VARIABLES, 0, moment=moment, timeout=3, seconds=30).response)
        for moment in moments
    ]

    assert [year for _, year in seen] == [2030, 2031, time.gmtime().tm_year]
    assert abs(seen[2][0] - time.time()) < 30


def test_two_calls_at_once_run_in_two_processes(code: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        (first, _), (second, _) = threads.map(lambda _: answered(code, 1), range(2))

    assert first != second


def test_the_longest_idle_process_ends_when_a_seventh_waits(tmp_path: Path) -> None:
    functions = [function(tmp_path, str(number)) for number in range(7)]
    first = [answered(each)[0] for each in functions]

    assert is_gone(first[0])
    assert answered(functions[6]) == [first[6], 2]
    assert answered(functions[0])[1] == 1


def test_processes_end_when_no_function_is_called(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution_environment, "_LONGEST_IDLE", 0.2)
    process, _ = answered(code)
    deadline = time.monotonic() + 10
    while not is_gone(process) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert is_gone(process)


def test_a_call_that_takes_too_long_is_an_error_with_its_log_and_the_next_one_has_a_new_process(
    code: Path,
) -> None:
    first, _ = answered(code)

    answer = ask(code, 30, seconds=0.5)

    assert error(answer) == ("Sandbox.Timedout", "Task timed out after 3.00 seconds")
    assert answer.log == "call 2\n"
    assert is_gone(first)
    assert answered(code)[1] == 1


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("raise SystemExit(3)", "Runtime exited with error: exit status 3"),
        ("raise SystemExit(0)", "Runtime exited without providing a reason"),
        ("os.kill(os.getpid(), 9)", "Runtime exited with error: signal: killed"),
    ],
)
def test_a_handler_that_ends_its_process_is_an_error_with_its_log(code: Path, ending: str, said: str) -> None:
    (code / "index.py").write_text(
        f"import os\ndef handler(event, context):\n    print('last words', flush=True)\n    {ending}\n"
    )

    answer = ask(code, 0)

    assert error(answer) == ("Runtime.ExitError", said)
    assert answer.log == "last words\n"
    (code / "index.py").write_text(COUNT)
    assert answered(code)[1] == 1


def test_what_a_handler_started_ends_with_it(code: Path) -> None:
    (code / "index.py").write_text(
        "import subprocess, sys\n"
        "def handler(event, context):\n"
        "    return subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid\n"
    )
    child = answered(code)

    end_environments()

    deadline = time.monotonic() + 10
    while not is_gone(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_gone(child)


def test_no_process_and_no_log_is_left_after_the_end(code: Path) -> None:
    process, _ = answered(code)

    end_environments()

    assert is_gone(process)
    assert list(code.parent.iterdir()) == [code]


def test_the_end_of_one_function_leaves_the_others(tmp_path: Path) -> None:
    one, two = function(tmp_path, "one"), function(tmp_path, "two")
    (first, _), (second, _) = answered(one), answered(two)

    end_environments(one.parent)

    assert is_gone(first)
    assert answered(two) == [second, 2]


def test_a_call_that_runs_at_the_end_is_cut_off(code: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(ask, code, 30)
        while not list(code.parent.glob("*.log")) or not next(code.parent.glob("*.log")).stat().st_size:
            time.sleep(0.05)
        end_environments()

    assert error(running.result())[0] == "Runtime.ExitError"
    assert list(code.parent.iterdir()) == [code]
