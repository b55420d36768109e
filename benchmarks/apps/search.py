"""Searches 30 Regions for 12 durations, where each call takes 200 ms, or as many seconds as the argument says.

Prints the seconds of the search, those of one Region alone, and the number of calls.
"""

import sys
import time
from datetime import UTC, datetime, timedelta

from ultracluster_runtime.purchasing.effects import DescribeOfferings, Page
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.purchasing.search import Search, search_offerings

CALL_SECONDS = float(sys.argv[1]) if sys.argv[1:] else 0.2
REGIONS = tuple(f"region-{number}" for number in range(30))
HOURS = tuple(24 * day for day in range(1, 13))

calls: list[str] = []


def read(effect: DescribeOfferings) -> Page[Offering]:
    """Answer as AWS would that has nothing to offer."""
    time.sleep(CALL_SECONDS)
    calls.append(effect.region)
    return Page(items=())


def seconds(regions: tuple[str, ...]) -> float:
    """Return what a search of these Regions takes."""
    now = datetime(2026, 11, 1, tzinfo=UTC)
    search = Search(
        regions=regions,
        instance_type="trn2.48xlarge",
        counts=(4,),
        hours=HOURS,
        start_after=now,
        start_before=now + timedelta(days=30),
        end_by=now + timedelta(days=60),
    )
    began = time.perf_counter()
    search_offerings(search, read=read)
    return time.perf_counter() - began


everywhere = seconds(REGIONS)
asked = len(calls)
print(everywhere, seconds(REGIONS[:1]), asked)
