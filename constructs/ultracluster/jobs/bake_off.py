"""The same job on several kinds of nodes, with a table that compares their figures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from aws_cdk import Duration
from aws_cdk import aws_batch as batch
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster._foundation.metric_options import MetricOptions
from ultracluster.images.container_image import AnyContainerImage
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster_catalog.observability.metrics import BAKE_OFF_NAMESPACE, CANDIDATE_DIMENSION
from ultracluster_spec.arguments import validate_arguments, validate_fields
from ultracluster_spec.findings import Finding, quote, reject
from ultracluster_spec.job import Job
from ultracluster_spec.job_definitions import refuse_for_kind

# Names of this form are also valid IDs in metric math.
_NAME = re.compile(r"[a-z][A-Za-z0-9_]{0,63}")
_MAX_ENTRIES = 10


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A candidate of a bake-off.

    Attributes:
        queue: Queue with the nodes of this side.
        image: Container image with the framework for these nodes, as for a job.
        node_count: Number of nodes. Default: all nodes of the queue.
        price_per_node_hour: Price of a node in US dollars per hour. With a price, the table also shows figures per second
            as figures per dollar. Default: not shown.
    """

    queue: ITrainingQueue
    image: AnyContainerImage
    node_count: int | None = None
    price_per_node_hour: float | None = None

    def __post_init__(self) -> None:
        validate_fields(self)


class BakeOff(Construct):
    """A multi-node job for each candidate, with identical arguments, and a dashboard that compares their figures.

    The program reports with `ultracluster_runtime.bake_off.report`, which prints a line. Metric filters on the job logs turn
    these lines into metrics, so that images need no AWS library and jobs no permissions. Submit the jobs one by one.
    """

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        job: Job,
        candidates: Mapping[str, Candidate],
        figures: Sequence[str] = ("tokens_per_second", "loss"),
        secrets: Mapping[str, batch.Secret] | None = None,
        timeout: Duration | None = None,
    ) -> None:
        """Define the jobs and the dashboard.

        Args:
            job: Description of the job of all candidates; they have image and number of nodes.
            candidates: The 2 to 10 sides to compare, by name, such as ``{"trn2": ..., "p5": ...}``.
            figures: Names of the 1 to 10 figures that the program reports. Those that end with ``_per_second`` are also
                shown per dollar. Default: ``tokens_per_second`` and ``loss``.
            secrets: More environment variables with secrets. Default: those of the description.
            timeout: Maximum duration of an attempt. Default: that of the description.

        Raises:
            FindingsError: If the number of candidates or figures is out of range (UC6160), a name is not made of letters,
                digits and underscores after a lowercase letter (UC6161), a price is not above zero (UC6162), or a job is
                rejected.
        """
        reject(_check(job, candidates, figures))
        super().__init__(scope, construct_id)
        self._candidates = dict(candidates)
        self._jobs = {
            name: self._define_job(name, candidate, job, secrets=secrets, timeout=timeout)
            for name, candidate in candidates.items()
        }
        for name, candidate in candidates.items():
            filters = Construct(self, f"{name}Figures")
            for figure in figures:
                self._define_filter(filters, name, candidate, figure)
        cloudwatch.Dashboard(self, "Table", widgets=[[self._table(figures)]])

    def _full_name(self, candidate: str) -> str:
        return f"{self.node.path}/{candidate}"

    def _define_job(
        self,
        name: str,
        candidate: Candidate,
        job: Job,
        *,
        secrets: Mapping[str, batch.Secret] | None,
        timeout: Duration | None,
    ) -> MultiNodeJob:
        return MultiNodeJob(
            self,
            name,
            replace(
                job,
                nodes=candidate.node_count,
                environment={**job.environment, "UC_CANDIDATE": self._full_name(name)},
            ),
            queue=candidate.queue,
            image=candidate.image,
            secrets=secrets,
            timeout=timeout,
        )

    def _define_filter(self, scope: Construct, name: str, candidate: Candidate, figure: str) -> None:
        logs.CfnMetricFilter(
            scope,
            figure,
            log_group_name=candidate.queue.log_group_name,
            # Other jobs of the queue write to the same log group.
            filter_pattern=f'{{ $.candidate = "{self._full_name(name)}" && $.{figure} = * }}',
            metric_transformations=[
                logs.CfnMetricFilter.MetricTransformationProperty(
                    metric_namespace=BAKE_OFF_NAMESPACE,
                    metric_name=figure,
                    metric_value=f"$.{figure}",
                    dimensions=[
                        logs.CfnMetricFilter.DimensionProperty(key=CANDIDATE_DIMENSION, value="$.candidate")
                    ],
                )
            ],
        )

    def _table(self, figures: Sequence[str]) -> cloudwatch.TableWidget:
        rows: list[cloudwatch.IMetric] = []
        for figure in figures:
            rows += [self.metric(figure, candidate=name) for name in self._candidates]
            if figure.endswith("_per_second"):
                rows += [
                    self.metric_per_dollar(figure, candidate=name)
                    for name, candidate in self._candidates.items()
                    if candidate.price_per_node_hour is not None
                ]
        return cloudwatch.TableWidget(
            title="Bake-off",
            width=24,
            height=12,
            metrics=rows,
            period=Duration.hours(1),
            summary=cloudwatch.TableSummaryProps(
                columns=[
                    cloudwatch.TableSummaryColumn.AVERAGE,
                    cloudwatch.TableSummaryColumn.MINIMUM,
                    cloudwatch.TableSummaryColumn.MAXIMUM,
                ]
            ),
        )

    @validate_arguments
    def metric(self, figure: str, *, candidate: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the metric of a figure.

        Args:
            figure: Name of the figure.
            candidate: Name of the candidate.
            **options: Arguments of `MetricOptions`. Default: the average over 1 minute, labelled with candidate and figure.

        Raises:
            KeyError: If there is no such candidate.
        """
        label = f"{candidate}: {figure}"
        defaults = MetricOptions(statistic="Average", period=Duration.minutes(1), label=label)
        return cloudwatch.Metric(
            namespace=BAKE_OFF_NAMESPACE,
            metric_name=figure,
            dimensions_map={CANDIDATE_DIMENSION: self._full_name(self._jobs[candidate].node.id)},
            **defaults | options,
        )

    @validate_arguments
    def metric_per_dollar(self, figure: str, *, candidate: str) -> cloudwatch.MathExpression:
        """Return a figure per second as a figure per dollar.

        Args:
            figure: Name of the figure.
            candidate: Name of a candidate that has a price.

        Raises:
            KeyError: If there is no such candidate or it has no price.
        """
        side = self._candidates[candidate]
        if side.price_per_node_hour is None:
            raise KeyError(f"{candidate} has no price_per_node_hour")
        nodes = side.queue.max_nodes if side.node_count is None else side.node_count
        return cloudwatch.MathExpression(
            expression=f"{candidate}_{figure} * 3600 / {side.price_per_node_hour * nodes}",
            using_metrics={f"{candidate}_{figure}": self.metric(figure, candidate=candidate)},
            label=f"{candidate}: {figure.removesuffix('_per_second')} for a dollar",
            period=Duration.minutes(1),
        )

    @property
    def jobs(self) -> Mapping[str, MultiNodeJob]:
        """Jobs by name of the candidate."""
        return dict(self._jobs)


def _check(job: Job, candidates: Mapping[str, Candidate], figures: Sequence[str]) -> list[Finding]:
    findings = [
        refuse_for_kind(quote(content), "bake-off", remedy="Set it for each candidate").at(f"job.{name}")
        for name, content in (("image", job.image), ("nodes", job.nodes))
        if content is not None
    ]
    for path, entries, minimum in (("candidates", candidates, 2), ("figures", figures, 1)):
        if not minimum <= len(entries) <= _MAX_ENTRIES:
            allowed = f"{minimum} to {_MAX_ENTRIES}"
            findings.append(Finding("UC6160", f"got {quote(len(entries))}", allowed=allowed, path=path))
    names = [("candidates", name) for name in candidates] + [("figures", name) for name in figures]
    findings += [
        Finding(
            "UC6161",
            f"got {quote(name)}",
            allowed="letters, digits and underscores after a lowercase letter",
            path=path,
        )
        for path, name in names
        if not _NAME.fullmatch(name)
    ]
    findings += [
        Finding(
            "UC6162",
            f"got {quote(candidate.price_per_node_hour)}",
            allowed="more than 0",
            path=f"candidates.{name}.price_per_node_hour",
        )
        for name, candidate in candidates.items()
        if candidate.price_per_node_hour is not None and candidate.price_per_node_hour <= 0
    ]
    return findings
