"""The same job on two kinds of machines, and one table of what each of them reached."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.launcher import Launcher
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.observability.metrics import BAKE_OFF_NAMESPACE, CONTESTANT_DIMENSION
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.plain_numbers import refuse_other_numbers

__all__ = ["BakeOff", "Candidate"]

# What a variable of metric math may be called, too.
_NAME = re.compile(r"[a-z][A-Za-z0-9_]{0,63}")
_MOST = 10


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One side of a bake-off.

    Attributes:
        queue: Queue with its machines.
        image: Container image with the framework for them.
        node_count: Nodes. Default: all nodes of the queue.
        price_per_node_hour: What you pay for a node and hour, in US dollars. With it the table also shows how much of
            each figure a dollar buys, for figures by the second. Default: not shown.
    """

    queue: TrainingQueue
    image: str | ContainerImage
    node_count: int | None = None
    price_per_node_hour: float | None = None

    def __post_init__(self) -> None:
        refuse_other_numbers(self)


class BakeOff(Construct):
    """A multi-node job for each candidate, with identical arguments, and a dashboard with one table of their figures.

    The program reports with `ultracluster_runtime.bake_off.report`, which prints a line; metric filters on the job logs
    make metrics of it, so that images need no AWS library and jobs no permission. Submit the jobs one by one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        candidates: Mapping[str, Candidate],
        command: Sequence[str],
        figures: Sequence[str] = ("tokens_per_second", "loss"),
        environment: Mapping[str, str] | None = None,
        launcher: Launcher = "torchrun",
        timeout: Duration | None = None,
    ) -> None:
        """Define the jobs and the table.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            candidates: What is compared, by name: 2 to 10, such as ``{"trn2": ..., "p5": ...}``.
            command: Program and arguments of all of them.
            figures: Names of the figures that the program reports, 1 to 10. Those that end with ``_per_second`` are
                also shown for a dollar. Default: ``tokens_per_second`` and ``loss``.
            environment: Environment variables of all of them. Default: none.
            launcher: What starts the command. Default: torchrun.
            timeout: When an attempt is ended. Default: never.

        Raises:
            FindingsError: If there are not 2 to 10 candidates and 1 to 10 figures (UC6160), a name is not made of
                letters, digits and underscores behind a small letter (UC6161), a price is not above zero (UC6162), or a job is refused.
        """
        findings = _check(candidates, figures)
        if findings:
            raise FindingsError(findings)
        super().__init__(scope, construct_id)
        self._candidates = dict(candidates)
        self._jobs = {
            name: MultiNodeJob(
                self,
                name,
                queue=each.queue,
                image=each.image,
                command=command,
                node_count=each.node_count,
                environment={**(environment or {}), "UC_CONTESTANT": self._full_name(name)},
                launcher=launcher,
                timeout=timeout,
            )
            for name, each in candidates.items()
        }
        for name, each in candidates.items():
            filters = Construct(self, f"{name}Figures")
            for figure in figures:
                self._define_filter(filters, name, each, figure)
        cloudwatch.Dashboard(self, "Table", widgets=[[self._table(figures)]])

    def _full_name(self, candidate: str) -> str:
        return f"{self.node.path}/{candidate}"

    def _define_filter(self, scope: Construct, name: str, candidate: Candidate, figure: str) -> None:
        logs.CfnMetricFilter(
            scope,
            figure,
            log_group_name=candidate.queue.log_group_name,
            # Other jobs of the queue write to the same log group.
            filter_pattern=f'{{ $.contestant = "{self._full_name(name)}" && $.{figure} = * }}',
            metric_transformations=[
                logs.CfnMetricFilter.MetricTransformationProperty(
                    metric_namespace=BAKE_OFF_NAMESPACE,
                    metric_name=figure,
                    metric_value=f"$.{figure}",
                    dimensions=[
                        logs.CfnMetricFilter.DimensionProperty(key=CONTESTANT_DIMENSION, value="$.contestant")
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
                    for name, each in self._candidates.items()
                    if each.price_per_node_hour is not None
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

    def metric(self, figure: str, *, candidate: str, period: Duration | None = None) -> cloudwatch.Metric:
        """Give the metric of a figure.

        Args:
            figure: Name of the figure.
            candidate: Name of the candidate.
            period: Time that one value is the average of. Default: a minute.

        Raises:
            KeyError: If there is no such candidate.
        """
        return cloudwatch.Metric(
            namespace=BAKE_OFF_NAMESPACE,
            metric_name=figure,
            dimensions_map={CONTESTANT_DIMENSION: self._full_name(self._jobs[candidate].node.id)},
            statistic="Average",
            period=period or Duration.minutes(1),
            label=f"{candidate}: {figure}",
        )

    def metric_per_dollar(self, figure: str, *, candidate: str) -> cloudwatch.MathExpression:
        """Give what a dollar buys of a figure by the second.

        Args:
            figure: Name of the figure.
            candidate: Name of a candidate with a price.

        Raises:
            KeyError: If there is no such candidate, or it has no price.
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
        """The jobs by candidate."""
        return dict(self._jobs)


def _check(candidates: Mapping[str, Candidate], figures: Sequence[str]) -> list[Finding]:
    findings = []
    for path, got, fewest in (("candidates", candidates, 2), ("figures", figures, 1)):
        if not fewest <= len(got) <= _MOST:
            allowed = f"{fewest} to {_MOST}"
            findings.append(
                Finding(code="UC6160", problem=f"got {quote(len(got))}", allowed=allowed, path=path)
            )
    names = [("candidates", name) for name in candidates] + [("figures", name) for name in figures]
    findings += [
        Finding(
            code="UC6161",
            problem=f"got {quote(name)}",
            allowed="letters, digits and underscores, first a small letter",
            path=path,
        )
        for path, name in names
        if not _NAME.fullmatch(name)
    ]
    findings += [
        Finding(
            code="UC6162",
            problem=f"got {quote(each.price_per_node_hour)}",
            allowed="more than 0",
            path=f"candidates.{name}.price_per_node_hour",
        )
        for name, each in candidates.items()
        if each.price_per_node_hour is not None and each.price_per_node_hour <= 0
    ]
    return findings
