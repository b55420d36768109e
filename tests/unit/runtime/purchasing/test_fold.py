"""Complete listings and records: every page, retries of transient errors, and no result otherwise."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.purchasing.ec2_fixtures import APPROVED, DENIED
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.protocol_player import play

from ultracluster_runtime.purchasing.effects import (
    DescribeBlocks,
    Effect,
    Page,
    ReadFailed,
    ReadRecord,
    Sleep,
)
from ultracluster_runtime.purchasing.fold import iterate_pages, read_record

THROTTLED = ReadFailed(code="Throttled", message="later", transient=True)


def listing(*replies: Any) -> tuple[list[Effect], Any]:
    """Read a listing; sleeping is answered with None, each read with the next reply."""
    left = list(replies)
    return play(
        iterate_pages(lambda page: DescribeBlocks(region="us-east-2", page=page), "the blocks"),
        lambda effect: None if isinstance(effect, Sleep) else left.pop(0),
    )


def reads(asked: list[Effect]) -> list[str | None]:
    return [effect.page for effect in asked if isinstance(effect, DescribeBlocks)]


def test_an_empty_page_with_a_token_is_not_the_last_one() -> None:
    asked, items = listing(
        Page(items=(1,), next_token="a"), Page(items=(), next_token="b"), Page(items=(2, 3))
    )

    assert items == [1, 2, 3]
    assert reads(asked) == [None, "a", "b"]


def test_transient_errors_are_retried_twice_with_longer_pauses() -> None:
    asked, items = listing(THROTTLED, THROTTLED, Page(items=(1,)))

    assert items == [1]
    assert [effect.seconds for effect in asked if isinstance(effect, Sleep)] == [5.0, 15.0]
    assert reads(asked) == [None, None, None]


@pytest.mark.parametrize(
    ("replies", "attempts"), [([THROTTLED] * 3, 3), ([DENIED], 1), ([THROTTLED, DENIED], 2)]
)
def test_an_incomplete_listing_is_refused(replies: list[ReadFailed], attempts: int) -> None:
    asked, line = listing(Page(items=(1,), next_token="a"), *replies)

    assert line.startswith(
        f"UC7035: the blocks could not be read: {replies[-1].code}: {replies[-1].message}."
    )
    assert reads(asked) == [None, *["a"] * attempts]


@pytest.mark.parametrize(("pages", "complete"), [(1000, True), (1001, False)])
def test_a_listing_of_more_than_a_thousand_pages_is_refused(pages: int, complete: bool) -> None:
    replies = [Page(items=(1,), next_token="more")] * (pages - 1) + [Page(items=(1,))]
    _, result = listing(*replies)

    if complete:
        assert len(result) == pages
    else:
        assert result.startswith("UC7035: the blocks did not end after 1000 pages")


def test_reads_an_order_as_it_was_approved() -> None:
    assert play(read_record("december"), lambda _: APPROVED) == ([ReadRecord("december")], APPROVED)


@pytest.mark.parametrize(
    ("reply", "code"),
    [(None, "UC7020"), (DENIED, "UC7035"), (replace(APPROVED, order=block_order(count=32)), "UC7025")],
)
def test_refuses_an_order_that_is_missing_unreadable_or_edited(reply: Any, code: str) -> None:
    _, line = play(read_record("december"), lambda _: reply)

    assert line.startswith(f"{code}: ")
