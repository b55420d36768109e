"""Log events with metrics, and a queue that alarms tell."""

import json
import time
from datetime import datetime
from typing import Any

from ultracluster_local import LocalAws

REGION = "us-east-2"


def embedded(value: float | list[float], moment: datetime, **others: Any) -> str:
    return json.dumps(
        {
            "_aws": {
                "Timestamp": int(moment.timestamp() * 1000),
                "CloudWatchMetrics": [
                    {
                        "Namespace": "Test",
                        "Dimensions": [["Cluster"], ["Cluster", "Job"]],
                        "Metrics": [{"Name": "Load", "Unit": "Count"}, {"Name": "NotGiven"}],
                    }
                ],
            },
            "Cluster": "a",
            "Job": "train",
            "Load": value,
            **others,
        }
    )


def log(local: LocalAws, *messages: str) -> None:
    logs = local.client("logs", REGION)
    logs.put_log_events(
        logGroupName="nodes",
        logStreamName="i-1",
        logEvents=[{"timestamp": int(time.time() * 1000), "message": each} for each in messages],
    )
