"""What was synthesized before is kept; entries are lost if damaged, at a limit, and with several processes at one time."""

import errno
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.unit.stacks.synthesis.stand_in import (
    Synthesized,
    cache_in,
    content,
    validation_warning,
)

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.synthesis.app import synthesize
from ultracluster_stacks.synthesis.assembly.cache import AssemblyCache, EntryStore


def test_another_fingerprint_knows_nothing(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    for fingerprint in ("one", "two"):
        cache = AssemblyCache(tmp_path / "cache", fingerprint=fingerprint)
        synthesize(clusters(aa=1), tmp_path / fingerprint, cache=cache)

    assert synthesized == [["aa"], ["aa"]]


def test_a_cluster_with_a_missing_asset_is_synthesized_again(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "first", cache=cache_in(tmp_path))
    for entry in (tmp_path / "cache").iterdir():
        if b"code of aa" in entry.read_bytes():
            entry.unlink()
    synthesize(clusters(aa=1), tmp_path / "again", cache=cache_in(tmp_path))

    assert synthesized == [["aa"], ["aa"]]
    assert content(tmp_path / "again") == content(tmp_path / "first")


def test_a_damaged_cache_costs_time_only(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1, bb=2), tmp_path / "first", cache=cache_in(tmp_path))
    for entry in (tmp_path / "cache").iterdir():
        entry.write_bytes(entry.read_bytes()[:-1])
    synthesize(clusters(aa=1, bb=2), tmp_path / "again", cache=cache_in(tmp_path))

    assert synthesized == [["aa", "bb"], ["aa", "bb"]]
    assert content(tmp_path / "again") == content(tmp_path / "first")


def test_what_validation_warned_of_is_said_again_and_the_other_clusters_are_kept(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    for name in ("first", "again"):
        synthesize(clusters(aa=1, warned=1), tmp_path / name, cache=cache_in(tmp_path))

    assert synthesized == [["aa", "warned"], ["warned"]]
    report = json.loads((tmp_path / "again" / "validation-report.json").read_text())
    assert report["pluginReports"] == [validation_warning("warned-us-east-1/S/T")]


def test_what_is_said_of_several_clusters_is_said_of_each_once(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "first", cache=cache_in(tmp_path))
    synthesize(clusters(aa=1, warned=1, warned2=1), tmp_path / "out", cache=cache_in(tmp_path), processes=1)

    assert synthesized == [["aa"], ["warned", "warned2"]]
    report = json.loads((tmp_path / "out" / "validation-report.json").read_text())
    paths = ("warned-us-east-1/S/T", "warned2-us-east-1/S/T")
    assert report["pluginReports"] == [validation_warning(each) for each in paths]


def test_a_violation_that_names_no_construct_keeps_every_cluster_out_of_the_cache(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    for name in ("first", "again"):
        synthesize(clusters(aa=1, template=1), tmp_path / name, cache=cache_in(tmp_path))

    assert synthesized == [["aa", "template"], ["aa", "template"]]


def test_gives_back_what_was_kept(tmp_path: Path) -> None:
    EntryStore(tmp_path / "cache").put("a", "größer")

    assert EntryStore(tmp_path / "cache").get("a") == "größer"
    assert EntryStore(tmp_path / "cache").get("b") is None


@pytest.mark.parametrize("place", [0, 63, 64, -1])
def test_an_entry_with_one_wrong_byte_is_missing_and_removed(tmp_path: Path, place: int) -> None:
    store = EntryStore(tmp_path)
    store.put("a", "content")
    damaged = bytearray((tmp_path / "a").read_bytes())
    damaged[place] ^= 1
    (tmp_path / "a").write_bytes(damaged)

    assert store.get("a") is None
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("length", [0, 10, 64, 70])
def test_an_entry_that_was_cut_off_is_missing(tmp_path: Path, length: int) -> None:
    store = EntryStore(tmp_path)
    store.put("a", "content")
    os.truncate(tmp_path / "a", length)

    assert store.get("a") is None


def test_an_entry_under_the_name_of_another_is_missing(tmp_path: Path) -> None:
    store = EntryStore(tmp_path)
    store.put("a", "content")
    (tmp_path / "a").rename(tmp_path / "b")

    assert store.get("b") is None


def test_on_a_full_disk_nothing_is_kept_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    EntryStore(tmp_path).put("a", "content")

    assert list(tmp_path.iterdir()) == []


def test_where_no_folder_can_be_made_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = EntryStore(tmp_path / "file" / "cache")

    store.put("a", "content")
    store.prune()

    assert store.get("a") is None


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = EntryStore(tmp_path, limit=3 * (64 + 100))
    for number, key in enumerate("abcd"):
        store.put(key, "x" * 100)
        os.utime(tmp_path / key, (number, number))
    store.get("a")

    store.prune()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c", "d"]


def test_writers_and_readers_at_one_time_see_whole_entries(tmp_path: Path) -> None:
    contents = {str(number) * 100_000 for number in range(4)}

    def write(content: str) -> None:
        for _ in range(10):
            EntryStore(tmp_path).put("a", content)

    def read(_: int) -> set[str | None]:
        return {EntryStore(tmp_path).get("a") for _ in range(50)}

    EntryStore(tmp_path).put("a", min(contents))
    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(write, content) for content in contents]
        seen = set.union(*pool.map(read, range(4)))
        for each in writing:
            each.result()

    assert seen <= contents
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
