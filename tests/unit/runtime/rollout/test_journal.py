from pathlib import Path

import pytest
from tests.unit.runtime.rollout.rollout_simulation import plan

from ultracluster_runtime.rollout.decide import Entry, Kind
from ultracluster_runtime.rollout.journal import open_journal, read_journal
from ultracluster_runtime.rollout.plan import DEPLOY
from ultracluster_spec.findings import FindingsError

BEGUN = Entry(kind=Kind.BEGUN, at="2026-11-21T20:00:00Z", cluster="a", step=DEPLOY)
PASSED = Entry(kind=Kind.PASSED, at="2026-11-21T20:01:00Z", cluster="a", step=DEPLOY, note="3 stacks, ä")


def test_reads_back_what_was_appended(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "journal.jsonl", plan(), at="now")
    journal.append(BEGUN)
    journal.append(PASSED)

    again = read_journal(journal.path)

    assert again.plan == plan()
    assert again.entries == journal.entries
    assert again.entries[1:] == [BEGUN, PASSED]


def test_truncated_last_line_is_removed(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "journal.jsonl", plan(), at="now")
    journal.append(BEGUN)
    whole = journal.path.read_bytes()
    journal.append(PASSED)
    line = journal.path.read_bytes()[len(whole) :]
    for cut in (1, 2, len(line) // 2, len(line) - 2, len(line) - 1):
        journal.path.write_bytes(whole + line[:cut])

        again = read_journal(journal.path)
        again.append(PASSED)

        assert again.entries[1:] == [BEGUN, PASSED]
        assert read_journal(journal.path).entries == again.entries


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no JSON\n",
        b"[]\n",
        b'{"kind": "begun"}\n',
        b'{"kind": "planned", "values": {}}\n',
        b'{"kind": "unheard of"}\n',
    ],
)
def test_refuses_a_file_that_is_not_a_journal(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(content)

    with pytest.raises(FindingsError, match=r"UC9608: .*not a journal of a rollout"):
        read_journal(path)


def test_refuses_an_invalid_line_in_the_middle(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "journal.jsonl", plan(), at="now")
    journal.path.write_bytes(journal.path.read_bytes() + b'{"kind": "beg\n')
    journal.append(BEGUN)

    with pytest.raises(FindingsError, match="UC9608"):
        read_journal(journal.path)
