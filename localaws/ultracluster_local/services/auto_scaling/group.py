"""Auto Scaling groups, their instances and scaling activities."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import ServiceError

__all__ = ["Activity", "Group", "Member", "find_group", "groups", "invalid", "notices", "now"]


@dataclass(kw_only=True, slots=True)
class Member:
    """An instance of a group.

    Attributes:
        protected: Whether scaling in leaves it alone.
        healthy: Whether no health check has failed.
    """

    instance_id: str
    instance_type: str
    zone: str
    template: Mapping[str, str]
    protected: bool = False
    healthy: bool = True

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "InstanceId": self.instance_id,
            "InstanceType": self.instance_type,
            "AvailabilityZone": self.zone,
            "LifecycleState": "InService",
            "HealthStatus": "Healthy" if self.healthy else "Unhealthy",
            "LaunchTemplate": dict(self.template),
            "ProtectedFromScaleIn": self.protected,
        }


@dataclass(kw_only=True, slots=True)
class Activity:
    """A scaling activity, with the fields of the API."""

    group: str
    description: str
    cause: str
    code: str = "Successful"
    message: str = ""
    details: str = "{}"
    start: datetime = field(default_factory=CLOCK.now)
    activity_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "ActivityId": self.activity_id,
            "AutoScalingGroupName": self.group,
            "Description": self.description,
            "Cause": self.cause,
            "StartTime": self.start,
            "EndTime": self.start,
            "StatusCode": self.code,
            "StatusMessage": self.message,
            "Details": self.details,
        }


@dataclass(kw_only=True, slots=True)
class Group:
    """An Auto Scaling group.

    Attributes:
        settings: Settings by the API's names, without its sizes and tags.
        activities: Scaling activities, newest first.
        failures: Failed launches in a row.
        retry_at: When it tries again.
    """

    region: str
    arn: str
    settings: dict[str, Any]
    least: int
    most: int
    desired: int
    tags: list[dict[str, Any]] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    activities: list[Activity] = field(default_factory=list)
    created: datetime = field(default_factory=CLOCK.now)
    failures: int = 0
    retry_at: datetime | None = None

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.settings["AutoScalingGroupName"])

    def member(self, instance_id: str) -> Member:
        """Return one of its instances.

        Raises:
            ServiceError: If it is not one of them.
        """
        for one in self.members:
            if one.instance_id == instance_id:
                return one
        raise invalid(f"The instance {instance_id} is not part of Auto Scaling group {self.name}.")

    def tell(self, description: str, cause: str, **others: Any) -> Activity:
        """Add a scaling activity, and return it."""
        activity = Activity(group=self.name, description=description, cause=f"At {now()} {cause}", **others)
        self.activities.insert(0, activity)
        return activity

    def suspends(self, process: str) -> bool:
        """Return whether one of its processes is suspended."""
        return any(one["ProcessName"] == process for one in self.settings.get("SuspendedProcesses", ()))

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            **self.settings,
            "AutoScalingGroupARN": self.arn,
            "MinSize": self.least,
            "MaxSize": self.most,
            "DesiredCapacity": self.desired,
            "Tags": self.tags,
            "CreatedTime": self.created,
            "Instances": [one.shown() for one in self.members],
        }


def now() -> str:
    """Return the time of the clock as activities say it."""
    return CLOCK.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def groups(region: str) -> dict[str, Group]:
    """Return the groups of a Region by name."""
    return region_state("autoscaling:groups", region=region, new=dict[str, Group])


def notices(region: str) -> list[dict[str, Any]]:
    """Return what the events of a Region say that have not been sent yet; they are sent when the clock moves."""
    return region_state("autoscaling:notices", region=region, new=list[dict[str, Any]])


def find_group(region: str, name: str) -> Group:
    """Return a group.

    Raises:
        ServiceError: If there is none of this name.
    """
    if name not in groups(region):
        raise invalid(f"AutoScalingGroup name not found - AutoScalingGroup: {name} not found")
    return groups(region)[name]


def invalid(message: str) -> ServiceError:
    """Return the error of this service for most invalid requests."""
    return ServiceError("ValidationError", message)
