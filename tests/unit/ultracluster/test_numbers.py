"""Numbers that jsii cannot carry are refused by every construct, and jsii still answers afterwards.

One NaN or infinity would end the process of jsii for the rest of the tests, so that they could not pass by chance.
"""

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Unpack, get_args, get_origin

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, RESERVATION, STANDING_ORDER, ZONE, new_stack

import ultracluster as uc
from ultracluster.capacity.sources import check_source
from ultracluster.network.cluster_network import check_network
from ultracluster_catalog.machines.instance_type import InstanceType, NetworkCard
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_catalog.neuron.neuron_images import NeuronImage
from ultracluster_spec.alarms import Alarms
from ultracluster_spec.findings import FindingsError, reject
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow

TYPE = "trn2.48xlarge"
NOT_A_NUMBER = [True, "5", Decimal("NaN"), Decimal(5), object()]
NOT_FINITE = [float("nan"), float("inf"), float("-inf"), 10**400, 10**5000]
TOO_LARGE = [2**53, 2**53 + 1, -(2**53), float(2**53)]
BAD = [*NOT_A_NUMBER, *NOT_FINITE, *TOO_LARGE]

# What users give to constructs and is no construct itself.
DATA = {
    "Alarms": Alarms,
    "InstanceType": InstanceType,
    "NetworkCard": NetworkCard,
    "NetworkInterface": NetworkInterface,
    "Neuron": Neuron,
}
# Made by our constructs, and only read by users.
NOT_MADE_BY_USERS = {"ComputeEnvironment"}

Made = Callable[..., object]


def _numbers(made: Made) -> dict[str, Any]:
    """The keywords of a callable whose annotation holds an int or a float, with the annotation."""
    # Of the constructor, because a class of jsii has a metaclass that takes anything.
    function = made.__init__ if inspect.isclass(made) else made  # type: ignore[misc] - mypy thinks of instances
    annotations: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if get_origin(parameter.annotation) is Unpack:
            annotations |= get_args(parameter.annotation)[0].__annotations__
        else:
            annotations[parameter.name] = parameter.annotation
    return {name: each for name, each in annotations.items() if {int, float} & set(_parts(each))}


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _with_numbers() -> dict[str, Made]:
    """Every class, class method and method of ours that takes a number, by name."""
    found: dict[str, Made] = dict(DATA)
    for name in set(uc.__all__) - NOT_MADE_BY_USERS:
        thing = getattr(uc, name)
        if not inspect.isclass(thing):
            continue
        if not any(method.startswith("from_") for method in vars(thing)) or not dataclasses.is_dataclass(
            thing
        ):
            found[name] = thing
        for method, value in inspect.getmembers(thing, callable):
            # Those of the base class are taken of what it is a base of.
            of_base = name in {"ITrainingQueue", "IUltraCluster"} or method == "add_compute_environment"
            if method.startswith(("add_", "from_")) and not of_base:
                found[f"{name}.{method}"] = value
    return {name: made for name, made in found.items() if _numbers(made)}


TAKES_NUMBERS = _with_numbers()


def _refusing() -> Iterator[tuple[str, Callable[..., object]]]:
    """Each public function of a construct whose own lines refuse something."""
    for name, made in ((name, getattr(uc, name)) for name in uc.__all__):
        for method, value in (
            vars(made).items() if inspect.isclass(made) and issubclass(made, Construct) else ()
        ):
            function = getattr(value, "__func__", value)
            is_public = method == "__init__" or not method.startswith("_")
            if is_public and inspect.isfunction(function):
                source = inspect.getsource(function)
                if any(each in source for each in ("reject(", "raise ", "super().__init__(", "cls(")):
                    yield f"{name}.{method}", function


def test_whatever_a_construct_refuses_is_told_with_its_path() -> None:
    # The others make what refuses for itself.
    assert [name for name, function in _refusing() if not hasattr(function, "__wrapped__")] == [
        "ITrainingQueue.__init__"
    ]


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    return new_stack()


@pytest.fixture(scope="module")
def makers(stack: cdk.Stack) -> Mapping[str, Made]:  # noqa: C901 - one function for each
    """What makes each of them under a new id, with good arguments but for those that it is given."""
    ids = (f"Thing{number}" for number in itertools.count())
    cluster = uc.UltraCluster(
        stack, "Cluster", instance_type=TYPE, node_count=4, image_id=IMAGE_ID, zone_id=ZONE
    )
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-01234567", availability_zones=["us-east-2c"], vpc_cidr_block="10.0.0.0/16"
    )
    subnet = ec2.Subnet.from_subnet_attributes(stack, "Subnet", subnet_id="subnet-01234567")
    job = uc.Job(image=IMAGE, command=("train.py",))
    of_queue = {"queue": cluster.queue, "image": IMAGE}
    place = {"zone_id": ZONE, "instance_type": TYPE, "node_count": 4}
    cache = {"compile_cache": cluster.compile_cache}
    arn = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
    budget = {"monthly_usd": 5, "tag_value": "train", "queues_to_close": [cluster.queue]}
    role = {
        "trusted_by": iam.AccountRootPrincipal(),
        "ledger": uc.CapacityLedger(stack, "Ledger"),
        "regions": ["us-east-2"],
        "instance_types": [TYPE],
        "max_instances": 16,
    }
    metrics = uc.NodeMetrics(stack, "Metrics", cluster_name="train")
    ami = {"name": "nodes", "parent": NeuronImage(kind="ecs-neuron", image_id=IMAGE_ID)}
    reserved = uc.CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE)
    machine = {
        each.name: getattr(INSTANCE_TYPES[TYPE], each.name) for each in dataclasses.fields(InstanceType)
    }
    quota = {"name": "team", "instances": {"ml.trn2.48xlarge": 4}, "sharing": "LEND_AND_BORROW"}

    def construct(made: Made, **given: Any) -> Made:
        return lambda **changes: made(stack, next(ids), **given | changes)

    def data(made: Made, *first: Any, **given: Any) -> Made:
        return lambda **changes: made(*first, **given | changes)

    def adding(method: str, **given: Any) -> Made:
        return lambda **changes: getattr(cluster, method)(next(ids), **given | changes)

    def alarms(**changes: Any) -> object:
        thresholds = Alarms(**changes)
        return uc.ClusterAlarms(stack, next(ids), metrics=metrics, settings=thresholds)

    def network(**changes: Any) -> object:
        return uc.ClusterNetwork(stack, next(ids), **place | changes)

    def described(**changes: Any) -> object:
        return network(instance_type=InstanceType(**machine | changes))

    def with_card(**changes: Any) -> object:
        card = NetworkCard(**{"index": 0, "max_interfaces": 1, "efa": True, "gbps": 100} | changes)
        return described(network_cards=(card,), efa_interfaces=1)

    def with_interface(**changes: Any) -> object:
        interface = NetworkInterface(**{"card": 0, "device": 0, "interface_type": "efa"} | changes)
        return network(nic_layout=[interface])

    def of_job(**changes: Any) -> object:
        return uc.MultiNodeJob(stack, next(ids), replace(job, **changes), queue=cluster.queue)

    def with_neuron(**changes: Any) -> object:
        neuron = Neuron(**changes)
        return uc.MultiNodeJob(stack, next(ids), replace(job, neuron=neuron), queue=cluster.queue)

    def file_system(**changes: Any) -> object:
        settings = uc.FileSystem(**changes)
        return uc.SharedFileSystem(stack, next(ids), network=cluster.network, settings=settings)

    def of_queue_with(**changes: Any) -> object:
        return uc.TrainingQueue(
            stack, next(ids), environments=cluster.queue.environments, settings=uc.Queue(**changes)
        )

    def root_volume(**changes: Any) -> object:
        volume = uc.RootVolume(**changes)
        return uc.NodeGroup(
            stack,
            next(ids),
            network=cluster.network,
            instance_type=TYPE,
            image_id=IMAGE_ID,
            root_volume=volume,
        )

    def capacity(made: Made, **given: Any) -> Made:
        return lambda **changes: reject(check_source(made(**given | changes), path="capacity"))

    return {
        "Alarms": alarms,
        "BlockLifecycle": construct(
            uc.BlockLifecycle,
            block=reserved,
            queue=uc.UltraCluster(
                stack,
                "Reserved",
                cluster_name="reserved",
                instance_type=TYPE,
                node_count=4,
                image_id=IMAGE_ID,
                capacity=reserved,
            ).queue,
        ),
        "CapacityBlock": capacity(uc.CapacityBlock, reservation_id=RESERVATION, zone_id=ZONE),
        "CapacityPurchaseRole": construct(uc.CapacityPurchaseRole, **role),
        "CapacityReservation": capacity(uc.CapacityReservation, reservation_id=RESERVATION, zone_id=ZONE),
        "ClusterBudget": construct(uc.ClusterBudget, **budget),
        "ClusterNetwork": construct(uc.ClusterNetwork, **place),
        "ClusterNetwork.from_subnet": construct(
            uc.ClusterNetwork.from_subnet, vpc=vpc, subnet=subnet, **place
        ),
        "Candidate": data(uc.Candidate, **of_queue),
        "FabricGate": construct(uc.FabricGate, **of_queue),
        "FileSystem": file_system,
        "InstanceType": described,
        "Job": of_job,
        "NetworkCard": with_card,
        "NetworkInterface": with_interface,
        "NeuronAmi": construct(uc.NeuronAmi, **ami),
        "Neuron": with_neuron,
        "NodeGroup": construct(uc.NodeGroup, network=cluster.network, instance_type=TYPE, image_id=IMAGE_ID),
        "Network": lambda **changes: reject(check_network(uc.Network(**changes))),
        "OnDemand": capacity(uc.OnDemand),
        "PrecompileJob": construct(uc.PrecompileJob, queue=cluster.queue, job=job, **cache),
        "Queue": of_queue_with,
        "WaitLimits": lambda **changes: of_queue_with(wait_limits=uc.WaitLimits(**changes)),
        "QuotaShare": data(uc.QuotaShare, **quota),
        "ReservationGroup": capacity(uc.ReservationGroup, resource_group_arn=arn, zone_id=ZONE),
        "RootVolume": root_volume,
        "SageMakerTrainingQueue": construct(uc.SageMakerTrainingQueue, instances={"ml.trn2.48xlarge": 4}),
        "StandingOrder": lambda **changes: uc.CapacityWatch(
            stack, next(ids), order=replace(STANDING_ORDER, **changes), instance_type=TYPE
        ),
        "SmokeTrain": construct(uc.SmokeTrain, **of_queue),
        "Spot": capacity(uc.Spot),
        "TrainingImageRepository": construct(uc.TrainingImageRepository),
        "TrainingQueue": construct(uc.TrainingQueue, nodes=cluster.nodes, max_nodes=4),
        "TrainingQueue.from_training_queue_attributes": construct(
            uc.TrainingQueue.from_training_queue_attributes,
            job_queue_arn="arn:aws:batch:us-east-2:123456789012:job-queue/train",
            instance_type=TYPE,
            max_nodes=4,
            log_group=cluster.queue.log_group,
        ),
        "UltraCluster": lambda **changes: construct(
            uc.UltraCluster, instance_type=TYPE, node_count=4, image_id=IMAGE_ID, zone_id=ZONE
        )(**{"cluster_name": next(ids)} | changes),
        "UltraCluster.add_fabric_gate": adding("add_fabric_gate", image=IMAGE),
        "UltraCluster.add_precompile_job": adding("add_precompile_job", queue=cluster.queue, job=job),
        "UltraCluster.add_queue": adding("add_queue"),
        "UltraCluster.add_smoke_train": adding("add_smoke_train", image=IMAGE),
    }


@pytest.mark.parametrize("name", sorted(TAKES_NUMBERS))
def test_rejects_numbers_that_jsii_cannot_carry(
    stack: cdk.Stack, makers: Mapping[str, Made], name: str
) -> None:
    makers[name]()  # what is good is taken
    for argument, annotation in _numbers(TAKES_NUMBERS[name]).items():
        for bad in BAD:
            with pytest.raises(FindingsError) as refused:
                makers[name](**{argument: _in_its_place(annotation, bad)})
            assert all(str(each).isascii() for each in refused.value.findings)
            assert any(
                each.path.removeprefix("capacity.")
                .removeprefix("wait_limits.")
                .removeprefix("neuron.")
                .removeprefix("root_volume.")
                .startswith(argument)
                for each in refused.value.findings
            ), (argument, bad)

    assert cdk.Names.unique_id(stack) == "Test"


# FSx, not we, judges numbers of a file system that are parameters of the stack.
@pytest.mark.parametrize("name", sorted(set(TAKES_NUMBERS) - {"FileSystem"}))
def test_rejects_numbers_that_are_known_at_deployment_only(makers: Mapping[str, Made], name: str) -> None:
    for argument, annotation in _numbers(TAKES_NUMBERS[name]).items():
        token = cdk.Lazy.number(_Later())
        with pytest.raises(FindingsError) as refused:
            makers[name](**{argument: _in_its_place(annotation, token)})
        assert "got a token" in str(refused.value), (argument, str(refused.value))
        assert "e+289" not in str(refused.value)


@jsii.implements(cdk.INumberProducer)
class _Later:
    def produce(self, _: cdk.IResolveContext) -> int:
        return 1


def _in_its_place(annotation: Any, number: Any) -> Any:
    """A number where the annotation has one: in a list, as a value of a mapping, or by itself."""
    for origin in map(str, _parts(annotation)):
        if origin.startswith("collections.abc.Sequence"):
            return [50, number]
        if origin.startswith("dict"):
            return {"a": number}
        if origin.startswith("collections.abc.Mapping"):
            return {"ml.trn2.48xlarge": number}
    return number
