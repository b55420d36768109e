"""Alarms on unused paid capacity and silent failures; each description states the remedy."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.private_topic import notification_topic
from ultracluster._foundation.tokens import check_known
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.storage.shared_file_system import SharedFileSystem
from ultracluster_spec.alarms import Alarms
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding, reject
from ultracluster_spec.values import wrong_types

_AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
_ABOVE = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
_AT_MOST = cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
_BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
_GOOD = cloudwatch.TreatMissingData.NOT_BREACHING
_BAD = cloudwatch.TreatMissingData.BREACHING


def check_alarms(settings: Alarms) -> list[Finding]:
    """Return what is wrong with the fields of the settings of alarms, of those that are known."""
    return wrong_types(settings) or check_known(settings)


class ClusterAlarms(Construct):
    """Alarms that notify an SNS topic, and a composite alarm that is in ALARM state while any of them is.

    The IDs of the alarms are part of the public API. Alarms ignore missing data, except for the alarm on the watch function,
    which most others depend on. The composite alarm has no actions, because each alarm notifies the topic itself.
    """

    composite: cloudwatch.CompositeAlarm
    """Composite alarm of the cluster."""
    topic: sns.ITopic
    """Topic of the notifications."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        metrics: NodeMetrics,
        file_system: SharedFileSystem | None = None,
        topic: sns.ITopic | None = None,
        settings: Alarms | None = None,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the alarms.

        Args:
            metrics: Metrics of the cluster.
            file_system: File system to monitor. Default: none.
            topic: SNS topic to notify. Its policy must allow CloudWatch to publish. Default: that of `settings`, or a new one.
            settings: Thresholds and recipients of the alarms. Default: those of `Alarms`.
            kms_key: KMS key for a new topic; its policy must allow CloudWatch to use it. Default: none.

        Raises:
            FindingsError: If a threshold is out of its bounds (UC6440), or a recipient is malformed (UC6446, UC6447).
        """
        self._settings = settings or Alarms()
        reject(check_alarms(self._settings))
        super().__init__(scope, construct_id)
        self._metrics = metrics
        self._alarms: dict[str, cloudwatch.Alarm] = {}
        self.topic = topic or self._define_topic(kms_key)
        self._action = actions.SnsAction(self.topic)
        self._minute = Duration.minutes(1)
        self._define_money()
        self._define_queue()
        self._define_nodes()
        self._define_training()
        if file_system is not None:
            self._define_storage(file_system)
        self.composite = cloudwatch.CompositeAlarm(
            self,
            "Cluster",
            alarm_description=f"Something is wrong in cluster {metrics.cluster_name}; the alarms in its rule say what",
            alarm_rule=cloudwatch.AlarmRule.any_of(*self._alarms.values()),
        )

    def _define_topic(self, kms_key: kms.IKey | None) -> sns.ITopic:
        if self._settings.topic_arn is not None:
            return sns.Topic.from_topic_arn(self, "Topic", self._settings.topic_arn)
        return notification_topic(self, emails=self._settings.emails, kms_key=kms_key)

    def _define_money(self) -> None:
        limits = self._settings
        self._alarm(
            "Idle",
            self._metric("CoreUtilization", "Minimum"),
            f"a node has used its NeuronCores less than {limits.idle_percent} % for {limits.idle_minutes} minutes, and is paid. "
            "Look whether its job hangs, loads data or never started (ultracluster jobs); submit work, or let the nodes go",
            comparison=_BELOW,
            threshold=limits.idle_percent,
            minutes=limits.idle_minutes,
        )
        self._alarm(
            "Unused",
            self._metric("UnusedNodes", "Minimum"),
            f"instances of an active reservation have run nothing for {limits.idle_minutes} minutes, and are paid. "
            "Submit work; if jobs wait, ultracluster jobs says why they do not start",
            minutes=limits.idle_minutes,
        )
        self._alarm(
            "DrainComing",
            self._metric("SecondsToDrain", "Minimum"),
            f"the Capacity Block is drained within {limits.drain_minutes} minutes: running jobs are told to write a checkpoint and "
            "are ended. Extend the block (ultracluster capacity extend) or let them end",
            comparison=_AT_MOST,
            threshold=60 * limits.drain_minutes,
            minutes=1,
        )
        window = Duration.minutes(15)
        self._alarm(
            "CacheMisses",
            # Misses of precompile jobs, which run on separate nodes, are expected.
            cloudwatch.MathExpression(
                expression="IF(nodes > 0, misses, 0)",
                label="Compile cache misses while nodes run",
                period=window,
                using_metrics={
                    "nodes": self._metric("NodesReporting", "Maximum", period=window),
                    "misses": self._metric("CacheMisses", "Sum", period=window),
                },
            ),
            f"{limits.cache_misses} graphs or more were compiled within 15 minutes on paid nodes. Fill the compile cache with a "
            "precompile job on a small node; look whether the compiler or its flags have changed",
            threshold=limits.cache_misses,
            minutes=1,
        )

    def _define_queue(self) -> None:
        limits = self._settings
        self._alarm(
            "JobWaits",
            self._metric("WaitSeconds", "Maximum"),
            f"a job has waited for more than {limits.wait_minutes} minutes although there is capacity. "
            "ultracluster jobs says why it does not start",
            threshold=60 * limits.wait_minutes,
            minutes=3,
        )
        self._alarm(
            "QueueBlocked",
            self._metric("BlockedJobs", "Maximum"),
            "AWS Batch says that a waiting job cannot start, and it holds up those behind it. ultracluster jobs gives the reason; "
            "cancel the job or change what it asks for",
            minutes=5,
        )

        self._alarm(
            "EnvironmentInvalid",
            self._metric("InvalidEnvironments", "Maximum"),
            "a compute environment is INVALID, and AWS Batch places no jobs in it. Correct the cause that aws batch "
            "describe-compute-environments shows, then disable and enable it: a deployment without a change does not check it again",
            minutes=2,
        )

    def _define_nodes(self) -> None:
        self._alarm(
            "NodeRefused",
            self._metric("NodesRefused", "Maximum"),
            "a node lacked devices or its file system at boot, did not join and ended itself; another one is launched. Its console "
            "has the reason for an hour (aws ec2 get-console-output); the same reason again means a bad image or network",
            minutes=1,
        )
        self._alarm(
            "NodeLost",
            cloudwatch.MathExpression(
                expression="running - reporting",
                label="Nodes that do not report",
                period=self._minute,
                using_metrics={
                    "running": self._metric("RunningNodes", "Maximum"),
                    "reporting": self._metric("NodesReporting", "Sum"),
                },
            ),
            "instances run that have not reported for 5 minutes: the node hangs, its Python or its way to CloudWatch Logs is "
            "missing. Look at it with Session Manager; end it if it does not answer",
            minutes=5,
        )
        self._alarm(
            "EfaMissing",
            self._metric("EfaDevicesMissing", "Maximum"),
            "a node lacks EFA devices, and jobs on it hang or slow all others. A node that lacked them at boot has not joined; "
            "replace it (ultracluster status prints the command)",
            minutes=2,
        )
        self._alarm(
            "NeuronMissing",
            self._metric("NeuronDevicesMissing", "Maximum"),
            "a node lacks Neuron devices. A node that lacked them at boot has not joined; replace it (ultracluster status "
            "prints the command)",
            minutes=2,
        )
        self._alarm(
            "TcpFallback",
            self._metric("TcpFallback", "Sum"),
            "nodes of a job talk over TCP while EFA is silent, which is many times slower. Look for FI_PROVIDER, the libfabric of "
            "the image and the security group's rules to itself; a fabric gate refuses such jobs before they cost",
            minutes=5,
            least=3,
        )
        self._alarm(
            "NodeFaulty",
            self._metric("NodeFaults", "Maximum"),
            "a node has a hardware fault for which Neuron asks to end the instance; jobs on it fail or compute wrong values. "
            "ultracluster status names it and prints the command that replaces it (ultracluster nodes replace NODE)",
            minutes=1,
        )
        self._alarm(
            "Ecc",
            self._metric("EccUncorrected", "Sum"),
            "device memory had an error that could not be corrected; results can be wrong. Go back to the checkpoint before it, "
            "and replace the node (ultracluster status prints the command)",
            minutes=1,
        )
        self._alarm(
            "WatchSilent",
            self._metric("RunningNodes", "SampleCount"),
            "the cluster has not been monitored for 5 minutes, so that most alarms cannot fire. See the log of its watch function",
            comparison=_BELOW,
            minutes=5,
            missing=_BAD,
        )

    def _define_training(self) -> None:
        limits = self._settings
        self._alarm(
            "CollectiveShare",
            self._metric("CollectiveShare", "Average"),
            f"{limits.collective_percent} % of a step or more go into collectives for 10 minutes. A slow node keeps all others "
            "waiting, or the parallelism talks too much; compare the nodes' ExecutionSeconds in the log of the metrics",
            threshold=limits.collective_percent / 100,
            minutes=10,
            least=8,
        )
        self._alarm(
            "StepStalled",
            self._metric("StepLateness", "Maximum"),
            f"a job that trains has made no step for {limits.stalled_steps} times its median step. Look for a hanging collective, "
            "a full file system or a lost node; end it and go on from the last checkpoint",
            threshold=limits.stalled_steps,
            minutes=2,
        )

    def _define_storage(self, file_system: SharedFileSystem) -> None:
        if file_system.storage_capacity_gib is None:
            return
        # A file is on few storage targets, and writes fail when one of them is full. An alarm may not use SEARCH.
        # (https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html and
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create_Metrics_Insights_Alarm.html, read 2026-11.)
        query = 'SELECT MAX(StorageCapacityUtilization) FROM SCHEMA("AWS/FSx", FileSystemId, StorageTargetId)'
        fullest = cloudwatch.MathExpression(
            expression=f"{query} WHERE FileSystemId = '{file_system.file_system_id}'",
            label="Used percentage of the fullest storage target",
            period=self._minute,
        )
        self._alarm(
            "FileSystemFull",
            fullest,
            f"less than {self._settings.free_percent} % of a storage target of the file system is free, and a full one ends runs "
            "in the middle of a checkpoint. Release or delete files, spread large ones with lfs migrate, or enlarge it, "
            "which takes hours",
            comparison=_ABOVE,
            threshold=100 - self._settings.free_percent,
            minutes=5,
        )

    def _metric(self, name: str, statistic: str, *, period: Duration | None = None) -> cloudwatch.Metric:
        return self._metrics.metric(name, statistic=statistic, period=period or self._minute)

    def _alarm(
        self,
        construct_id: str,
        metric: cloudwatch.IMetric,
        description: str,
        *,
        minutes: int,
        threshold: float = 1,
        least: int | None = None,
        comparison: cloudwatch.ComparisonOperator = _AT_LEAST,
        missing: cloudwatch.TreatMissingData = _GOOD,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            construct_id,
            alarm_description=f"Cluster {self._metrics.cluster_name}: {description}.",
            metric=metric,
            threshold=threshold,
            comparison_operator=comparison,
            evaluation_periods=minutes,
            datapoints_to_alarm=least,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(self._action)
        alarm.add_ok_action(self._action)
        self._alarms[construct_id] = alarm

    @property
    def alarms(self) -> dict[str, cloudwatch.Alarm]:
        """Alarms by ID, such as ``Idle``."""
        return dict(self._alarms)
