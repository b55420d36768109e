"""An execution environment answers the next event of the same function, as on AWS Lambda."""

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.unit.local.functions.lambda_harness.test_python_harness import VARIABLES

from ultracluster_local.functions import lambda_harness
from ultracluster_local.functions.execution_environment import Answer, end_environments, invoke

pytestmark = pytest.mark.process

HARNESS = [sys.executable, str(Path(lambda_harness.__file__).with_name("python_harness.py"))]
COUNT = """
import os, time
count = 0
def handler(event, context):
    global count
    count += 1
    print("call", count)
    time.sleep(event)
    return [os.getpid(), count]
"""


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    end_environments()
    yield
    end_environments()


def ask(directory: Path, event: object, *, seconds: float = 30, **variables: str) -> Answer | None:
    return invoke(HARNESS, directory, VARIABLES | variables, event, moment=None, seconds=seconds)


def answered(directory: Path, event: object = 0, **variables: str) -> Any:
    answer = ask(directory, event, **variables)
    assert answer is not None
    return json.loads(answer.response)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    directory = tmp_path / "code"
    directory.mkdir()
    (directory / "index.py").write_text(COUNT)
    return directory


def test_the_same_function_is_called_in_the_same_process(code: Path) -> None:
    (first, one), (second, two) = answered(code), answered(code)

    assert (first, one, two) == (second, 1, 2)


def test_each_log_holds_what_its_own_call_printed(code: Path) -> None:
    logs = [answer.log for answer in (ask(code, 0), ask(code, 0)) if answer is not None]

    assert logs == ["call 1\n", "call 2\n"]


def test_another_setting_takes_another_process(code: Path) -> None:
    first, _ = answered(code, CHOSEN="one")
    second, count = answered(code, CHOSEN="two")

    assert first != second
    assert count == 1


def test_two_calls_at_once_run_in_two_processes(code: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        (first, _), (second, _) = threads.map(lambda _: answered(code, 1), range(2))

    assert first != second


def test_the_longest_idle_process_ends_when_a_seventh_waits(code: Path) -> None:
    first = [answered(code, CHOSEN=str(number))[0] for number in range(7)]

    assert answered(code, CHOSEN="6") == [first[6], 2]
    assert answered(code, CHOSEN="0")[1] == 1


def test_a_call_that_takes_too_long_has_no_answer_and_the_next_one_a_new_process(code: Path) -> None:
    first, _ = answered(code)

    assert ask(code, 30, seconds=0.3) is None
    assert answered(code)[0] != first


def test_a_handler_that_ends_its_process_is_an_error_with_its_log(code: Path) -> None:
    (code / "index.py").write_text(
        "def handler(event, context):\n    print('last words')\n    raise SystemExit(3)\n"
    )

    answer = ask(code, 0)

    assert answer is not None
    assert answer.failed
    assert json.loads(answer.response) == {"errorType": "Runtime.ExitError", "errorMessage": "last words\n"}


def test_no_process_and_no_log_is_left_after_the_end(code: Path) -> None:
    process, _ = answered(code)

    end_environments()

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert list(code.parent.iterdir()) == [code]
