"""The figures of `ultracluster cost report`, computed anew from the file of a recording: a table of periods, and sums over it.

It shares no code with the product: how a figure is defined is read in docs/how-to/report.md.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

__all__ = ["recomputed"]

_STOPS = ("compilation", "CompileSeconds"), ("checkpoints", "CheckpointSeconds")


def recomputed(recording: Mapping[str, Any], rates: Mapping[str, float]) -> dict[str, float | None]:
    """Return figures by the names that the command gives them; a use of minutes is `minutes.USE`."""
    seconds = recording["period_seconds"]
    table: dict[str, dict[tuple[str, str | None], float]] = defaultdict(dict)
    for series in recording["series"]:
        if series["statistic"] in _wanted(series["metric"]):
            for moment, value in series["points"]:
                table[moment][series["metric"], series.get("job")] = value
    jobs = sorted({series["job"] for series in recording["series"] if series.get("job")})
    uses: Counter[str] = Counter()
    tokens = compiled = missed = hits = 0.0
    speeds, nodes_seen, mfu = 0, [], []
    for row in table.values():
        stops = {job: _stops(row, job, seconds) for job in jobs}
        for job in jobs:
            if (speed := row.get(("TokensPerSecond", job))) is not None:
                tokens += speed * (seconds - sum(stops[job].values()))
                speeds += 1
            mfu += [row["Mfu", job]] if ("Mfu", job) in row else []
            compiled += row.get(("CompileSeconds", job), 0)
            missed += row.get(("CacheMisses", job), 0)
            hits += row.get(("CacheHits", job), 0)
        if (paid := row.get(("PaidNodes", None))) is None:
            continue
        nodes_seen.append(paid)
        for use, share in _uses(row, jobs, stops, paid=paid, seconds=seconds):
            uses[use] += share * seconds / 60
    minutes = sum(uses.values())
    usd = rates["usd"] * minutes / 60
    million = usd / tokens * 1e6 if tokens else None
    other = rates["other_usd"] * minutes / 60 / (tokens * rates["peak_ratio"]) * 1e6 if tokens else None
    cache = hits * compiled / missed / 60 * sum(nodes_seen) / len(nodes_seen) if missed else None
    return {
        **{f"minutes.{use}": amount for use, amount in uses.items()},
        "paid_minutes": minutes,
        "tokens": tokens if speeds else None,
        "usd": usd,
        "usd_per_million_tokens": million,
        "usd_per_million_tokens_without_losses": million and million * uses["training"] / minutes,
        "usd_per_million_tokens_other": other,
        "mfu": sum(mfu) / len(mfu) if mfu else None,
        "graphs": hits,
        "seconds_per_graph": compiled / missed if missed else None,
        "cache_minutes": cache,
        "cache_usd": cache and usd * cache / minutes,
    }


def _wanted(metric: str) -> tuple[str, ...]:
    """Return the statistic by which a metric counts."""
    if metric == "SecondsToDrain":
        return ("Minimum",)
    sums = ("CompileSeconds", "CheckpointSeconds", "CacheMisses", "CacheHits")
    return ("Sum",) if metric in sums else ("Average",)


def _stops(row: Mapping[tuple[str, str | None], float], job: str, seconds: float) -> dict[str, float]:
    """Return the seconds of a period in which a job made no steps, by use; not more than there are."""
    left, found = seconds, {}
    for use, metric in _STOPS:
        found[use] = min(left, row.get((metric, job), 0))
        left -= found[use]
    return found


def _uses(
    row: Mapping[tuple[str, str | None], float],
    jobs: list[str],
    stops: Mapping[str, Mapping[str, float]],
    *,
    paid: float,
    seconds: float,
) -> list[tuple[str, float]]:
    """Return what paid nodes did in a period, as numbers of nodes."""
    if row.get(("SecondsToDrain", None), 1) <= 0:
        return [("drain", paid)]
    absent = min(paid, row.get(("UnusedNodes", None), 0))
    present = paid - absent
    trains = any((metric, job) in row for metric in ("TokensPerSecond", "StepSeconds") for job in jobs)
    if not trains and not row.get(("RunningJobs", None)):
        idle = "jobs that wait" if row.get(("RunnableJobs", None)) else "no work"
        return [("no node", absent), (idle, present)]
    slowest = max(stops.values(), key=lambda stop: sum(stop.values()), default={})
    stopped = [(use, present * part / seconds) for use, part in slowest.items()]
    rest = present - sum(part for _, part in stopped)
    return [("no node", absent), *stopped, ("training" if trains else "start of jobs", rest)]
