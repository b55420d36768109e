"""The JSON file of recorded metrics."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

from ultracluster_runtime.metrics.recorded_metrics import Recording, Series
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.untrusted_files import read_untrusted_json

_VERSION = 1


def write_recording(recording: Recording, path: Path) -> None:
    """Write a recording as JSON. Equal recordings give equal bytes."""
    document = {
        "version": _VERSION,
        "cluster": recording.cluster,
        "region": recording.region,
        "start": _text(recording.start),
        "end": _text(recording.end),
        "period_seconds": int(recording.period.total_seconds()),
        "series": [
            {
                "metric": series.metric,
                "statistic": series.statistic,
                **({} if series.job is None else {"job": series.job}),
                "points": [[_text(moment), value] for moment, value in series.points],
            }
            for series in recording.series
        ],
    }
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


def read_recording(path: Path) -> Recording:
    """Read a recording, or raise an error with the first problem of the file."""
    try:
        document = read_untrusted_json(path)
        if document["version"] != _VERSION:
            raise _not_one(path, f"version {document['version']!r}; this command reads version {_VERSION}")
        recording = Recording(
            cluster=str(document["cluster"]),
            region=str(document["region"]),
            start=_moment(document["start"]),
            end=_moment(document["end"]),
            period=timedelta(seconds=document["period_seconds"]),
            series=tuple(_series(item) for item in document["series"]),
        )
    except OSError as error:
        raise _not_one(path, f"it cannot be read: {error.strerror}") from error
    except KeyError as error:
        raise _not_one(path, f"{error} is missing") from error
    except (TypeError, ValueError) as error:
        raise _not_one(path, str(error)) from error
    if recording.end <= recording.start or recording.period <= timedelta(0):
        raise _not_one(path, "it ends before it starts, or its period is not positive")
    return recording


def _series(document: Mapping[str, Any]) -> Series:
    points = tuple((_moment(moment), _number(value)) for moment, value in document["points"])
    if list(points) != sorted(points, key=itemgetter(0)):
        raise ValueError(f"the points of {document['metric']} are not in chronological order")
    return Series(
        metric=str(document["metric"]),
        statistic=str(document["statistic"]),
        job=document.get("job"),
        points=points,
    )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.astimezone(UTC)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _not_one(path: Path, problem: str) -> FindingsError:
    remedy = "Record one with `ultracluster dashboard --cluster NAME --save FILE`"
    return FindingsError.message(f"{path} is not a recording of metrics: {problem}", remedy=remedy)
