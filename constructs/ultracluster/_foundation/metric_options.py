"""Options of metrics."""

from typing import TypedDict

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch


class MetricOptions(TypedDict, total=False):
    """Options of a metric, those of `aws_cloudwatch.MetricOptions` without the dimensions, which are those of what is measured.

    Attributes:
        period: Period of the statistic. Default: 5 minutes, unless the metric says otherwise.
        statistic: Statistic, such as ``Maximum`` or ``p99``. Default: the average, unless the metric says otherwise.
        label: Label in graphs. Default: none.
        color: Colour in graphs, such as ``#1f77b4``. Default: that of CloudWatch.
        unit: Unit to filter by. Default: all.
        id: Name in math expressions. Default: none.
        visible: Whether graphs show the metric. Default: True.
        account: Account of the metric. Default: that of the stack in which it is used.
        region: Region of the metric. Default: that of the stack in which it is used.
    """

    period: Duration
    statistic: str
    label: str
    color: str
    unit: cloudwatch.Unit
    id: str
    visible: bool
    account: str
    region: str
