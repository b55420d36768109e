"""The recorded demo is what its page shows, and its commands exist. tests/integration/test_demo.py compares it with the demo."""

import json
from pathlib import Path

from tests.diaries.record import CAST, PAGE, chapters, commands, page, recorded
from tests.diaries.terminal import COLUMNS, shown

from ultracluster_cli.main import COMMANDS

ROOT = Path(__file__).parents[3]


def test_the_page_shows_the_recording() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recorded())


def test_the_recording_is_an_asciicast_of_80_columns() -> None:
    head, *events = [json.loads(line) for line in CAST.read_text(encoding="utf-8").splitlines()]

    assert (head["version"], head["width"]) == (2, COLUMNS)
    assert {kind for _, kind, _ in events} == {"o"}
    assert [at for at, _, _ in events] == sorted(at for at, _, _ in events)
    assert max(map(len, shown(recorded()).splitlines())) <= COLUMNS


def test_the_recording_says_nothing_of_the_machine_that_made_it() -> None:
    written = recorded()

    assert str(ROOT) not in written
    assert str(Path.home()) not in written


def test_the_recording_tells_seven_chapters_of_one_command_on_at_most_60_lines() -> None:
    screen = shown(recorded())

    assert len(screen.splitlines()) <= 60
    assert [chapter[:4] for chapter in chapters(screen)] == [f"{number}/7 " for number in range(1, 8)]
    words = [line.split() for line in commands(screen)]
    assert len(words) == 7
    assert {program for program, *_ in words} == {"ultracluster"}
    assert {command for _, command, *_ in words} <= COMMANDS.keys()
    assert not {"--json", "--token"} & {word for line in words for word in line}
