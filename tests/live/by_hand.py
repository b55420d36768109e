"""Questions without a test, each with the reason why it has none, and the steps by hand."""

from tests.live.question import untested

untested(
    "L1",
    "Does AWS Batch launch into the Capacity Block?",
    """The Batch User Guide says that market options of a launch template are ignored; AWS's own templates and blog (2025-04-29) rely on them.

1. Buy a block, put its reservation id, zone id and AMI id into a copy of `stacks/rollouts/quickstart.yaml`, deploy, and wait for its start.
2. Submit a job: `aws batch submit-job --job-name check --job-queue QUEUE --job-definition DEFINITION --share-identifier check`.
3. `aws ec2 describe-instances --filters Name=tag:ultracluster:cluster,Values=quickstart --query
   'Reservations[].Instances[].[InstanceId,InstanceLifecycle,CapacityReservationId]'`.

Shown when every instance has lifecycle `capacity-block` and the id of your reservation. Anything else costs on-demand money: stop it at once.""",
    cost="one block of one day",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L2",
    "Does the multi-node task get its interface with the `batch` layout?",
    """Card 0 of a trn2.48xlarge takes two interfaces. With the `batch` layout the first is the node's EFA interface, and ECS needs the second.
With the job of L1 running: `aws ec2 describe-network-interfaces --filters Name=attachment.instance-id,Values=INSTANCE`. Shown when there is one
interface more than the launch template has, with the security group of the cluster. If the job waits in STARTING instead, note the layout.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L3",
    "Does a node find its devices, mount the file system and join?",
    """`aws ssm start-session --target INSTANCE`, then `cat /var/log/ultracluster-boot.log`. Shown when it ends in `ready` after `16 of 16 Neuron
devices`, `16 of 16 EFA devices` and `file system mounted at /fsx`.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L5",
    "How much memory does a trn2 node register?",
    """`aws ecs describe-container-instances --query 'containerInstances[].registeredResources'` during L1. The catalogue asks for 0.96 of a trn2
node's memory, an estimate; put the measured number with its date into the family's module in `ultracluster_catalog/machines/`.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L6",
    "Can a node live on endpoints alone?",
    """In the deployed network, during L1: the job's log stream exists in CloudWatch, the image was pulled, Session Manager connects, and
`curl --max-time 5 https://example.com` on the node fails.""",
    cost="one small instance, minutes",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L7",
    "Does collective traffic use EFA, at what rate?",
    """In a two-node job, `fi_info -p efa` lists one provider per device, and `nccom-test` reports more than TCP could carry (a single card of 200 Gbit/s).
Note bandwidth and latency with the date.""",
    cost="as L1",
    tier=3,
    reason="not written yet; until then by hand",
)

untested(
    "L9",
    "Does the checkpoint signal reach the training processes?",
    """During L1, with a job that handles SIGUSR1 ([capacity-lifecycle.md](capacity-lifecycle.md)): wait for one hour before the end, or write the order by hand:
`aws ssm send-command --document-name AWS-RunShellScript --instance-ids INSTANCE --parameters
'commands=["date -u -d +1hour +%Y-%m-%dT%H:%M:%SZ >/run/ultracluster/checkpoint"]'`. Shown when the job's log says `sent SIGUSR1 to N processes`,
N is the processes of a node, and the job goes on. The command must succeed on a node without a way out: `aws ssm list-command-invocations`. Then show
that the function's role can send it, and cannot to an instance without the tag `ultracluster:capacity-reservation`.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L10",
    "Does a drain end the jobs, and do the nodes go before EC2 takes them?",
    """At 40 minutes before the end of L1, with one job running and one waiting: `aws batch describe-jobs` shows FAILED with `ultracluster: Capacity Block cr-… ends …`
for the first and RUNNABLE for the second, `aws batch describe-compute-environments` shows DISABLED. Note when the last instance was gone, and by whom
(`aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=TerminateInstances`). Shown when AWS Batch did it before EC2's turn.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L11",
    "Does a deployment during the block or after its drain touch the environment's state?",
    """The template says ENABLED, and the function closes. Change `root_volume_gib` before the start and after the drain, deploy, and read the function's log: if
it says `SetEnvironment(enabled=False)` again, CloudFormation opened the environment for up to a minute. Note it.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L12",
    "Which events does EC2 send, under which names, and what does the reservation show when?",
    """Put a rule on `{"source": ["aws.ec2"], "detail-type": [{"prefix": "Capacity Block"}]}` with a log group as its target, and run
`aws ec2 describe-capacity-reservations --capacity-reservation-ids cr-…` every minute into a file, from the purchase to a day after the end. Note the
names of the events, `State`, `StartDate`, `EndDate` and `TotalInstanceCount` before the start, at the start, after an extension was bought, when it was paid, and after the end,
and when EC2 forgets the reservation. The function expects `scheduled` or `payment-pending`, `active`, `expired`, and that an extension moves `EndDate` when it is paid.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L13",
    "How long does a wake-up take, and is the alarm quiet?",
    """`aws logs filter-log-events --log-group-name GROUP --filter-pattern REPORT` during L1: note duration, memory and cold starts with the date.
Shown when no wake-up takes more than 20 seconds and the alarm `Alarm` stays OK, also in the first ten minutes after a deployment.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L22",
    "Does AWS refuse the extension of a block without the tag, and one in another Region?",
    """With a block of yours that carries no tag `uc:po`: `aws ec2
purchase-capacity-block-extension --dry-run --capacity-reservation-id cr-… --capacity-block-extension-offering-id cbe-…`. Shown by
`UnauthorizedOperation`, and `DryRunOperation` after an administrator has added the tag. In a Region that the role does not name: `UnauthorizedOperation`.""",
    cost="nothing, with a block that you own",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L23",
    "Does the guard's message arrive?",
    """As the search role, whose purchases are denied, and with an offering that does not exist, so that nothing could be bought even if it were allowed:
`aws ec2 purchase-capacity-block --capacity-block-offering-id cb-00000000000000000 --instance-platform Linux/UNIX`. Shown when the subscribers of the topic
get a message that names the call, the role and `Client.UnauthorizedOperation`, and have got none of the dry runs before. Note how
long it took.""",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L31",
    "Does a purchase carry its tag at once, and on every reservation of a segmented one?",
    """buy one trn2.3xlarge for a day and run `aws ec2 describe-capacity-reservations` every ten seconds. Shown when the tag `uc:po` is there as soon
  as the reservation is, and that is within minutes; 30 minutes are allowed.""",
    cost="one block of one day",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L32",
    "How soon does a new reservation show in DescribeCapacityReservations?",
    """buy one trn2.3xlarge for a day and run `aws ec2 describe-capacity-reservations` every ten seconds. Shown when the tag `uc:po` is there as soon
  as the reservation is, and that is within minutes; 30 minutes are allowed.""",
    cost="as L31",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L34",
    "Does an extension show in its history at once, with the offering's id?",
    """extend that block by a day and run `aws ec2 describe-capacity-block-extension-history`. Shown when the offering's id and the old end are in it.""",
    cost="one extension of a day",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L40",
    "Do nodes of a resource group run in its reservations only, also when it is full?",
    """`aws ec2 create-capacity-reservation --instance-count 1`, a resource group with the configuration `AWS::EC2::CapacityReservationPool`, and a
  cluster with `resource_group_arn` and two nodes. Submit two jobs of one node. Shown when one instance shows the reservation's id in
  `describe-instances` and the second is refused (`ReservationCapacityExceeded` in the activity of the Auto Scaling group), not started on demand.
  Cancel the reservation at once afterwards.""",
    cost="one small reservation, minutes",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L42",
    "Does the first source hold a multi-node job while EC2 has no instances for it?",
    """a queue whose first source is a reservation with no free instance, and whose second is on-demand. Shown when a multi-node job stays RUNNABLE
  for an hour, the second environment keeps desiredvCpus 0, and `ultracluster jobs why` says `held-by-the-first-source`.""",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L46",
    "What does one node, and what do all, really get of a file system?",
    """During L1, with the file system of the cluster: in a job on one node, `fio --name=w --directory=/fsx --rw=write --bs=1M --size=16G --numjobs=16
--direct=1 --group_reporting`, then the same on all nodes at the same time. Note MB/s beside `node_gbps` and `node_mb_per_s` of `ultracluster
validate --json`. Shown when a node alone comes near 625 MB/s for each object server until its tier, and never above.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L47",
    "Do p5 or trn1 nodes mount over EFA, and how fast?",
    """Two trn1.32xlarge or p5.48xlarge on demand, `efa: true`, 4,800 GiB at 1,000 MB/s for each TiB (EFA's smallest step there), and an image with
AWS's `configure-efa-fsx-lustre-client` as a service. Shown when `lnetctl net show` on a node lists `efa`, its counters rise while `fio` of L46
runs, and the throughput is above what TCP gives from one object server (625 MB/s). If it stays below, the client fell back to TCP.""",
    cost="two nodes for an hour",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L49",
    "What does an hour of a file system cost on the bill, for each kind?",
    """A day after L45, in Cost Explorer by usage type, service FSx: put USD per GB-month, per MB/s-month, per metadata IOPS and per GB of read cache, with the
day and the Region, into `ultracluster_catalog/prices/prices.py`, which today knows 125 MB/s for each TiB and SCRATCH_2 in us-east-1 only.""",
    cost="as L45",
    tier=1,
    reason="the bill of L45 stands a day later, and its usage types are read by a person who writes them into the price tables",
)

untested(
    "L51",
    "Are graphs of Trainium2 compiled on a trn1.2xlarge found by a trn2 node?",
    """on a trn2 node, run the program with `NEURON_EXTRACT_GRAPHS_ONLY=1` for 10 steps; on the trn1.2xlarge a precompile job with `phase: compile`;
  then the program on the trn2 node; the same with `instance_type: cpu`. Expected: "Using a cached neff", no compilation. Note how long each phase took and whether 32 GiB sufficed.""",
    cost="as L1, and one trn1.2xlarge, an hour",
    tier=2,
    reason="the program is that of a user, and each phase is judged by a person",
)

untested(
    "L53",
    "Do nodes share the TorchNeuron cache on the file system?",
    """two nodes, an image of TorchNeuron, `compile_cache: {on_file_system: true}`. Expected: the folder `torchneuron` is made, the second node and the
  second run compile nothing, and no entry is torn when both compile the same graph at once.""",
    cost="as L1",
    tier=2,
    reason="it needs an image of TorchNeuron, which AWS does not publish yet",
)

untested(
    "L55",
    "Which status reason does a multi-node job get when the host of a child, or of the main node, is lost?",
    """run [training.md](training.md)'s loop on two nodes with `attempts: 3` and end the instance of node 1 with `aws ec2 terminate-instances`. Look at
  `aws batch describe-jobs` for `statusReason` and `attempts[].statusReason`. Shown when the main node ends with exit code 112 within minutes, names the
  node, and the job is started again and resumes. Repeat with node 0, whose reason begins with `Host EC2`.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L56",
    "Does the fabric gate bring nccom-test to all nodes without SSH, and what does it measure?",
    """submit a job with `gates: {fabric: true}` on two nodes. Shown when the log of the main node ends with `fabric gate: passed` and names a bandwidth; note it
  with date and type in docs/training.md, and how long `--check` took. Then give a `min_bandwidth` above it: the job must fail, and the paid job must not start. Note whether
  nccom-test is on the PATH of the image or under /opt/aws/neuron/bin, and the major version of its Open MPI.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L57",
    "Does the smoke training run under torch-neuronx and under TorchNeuron, with equal losses?",
    """submit with `gates: {smoke: true}` and an image of torch-neuronx; then with `device: neuron` and an image of TorchNeuron (trn2 only). Shown by
  `smoke train: passed` with all ranks counted. If the losses of ranks differ in the last bits on sound nodes, note how much.""",
    cost="as L1",
    tier=2,
    reason="it needs images of torch-neuronx and TorchNeuron in the account",
)

untested(
    "L58",
    "Do JAX and the Neuron runtime meet with the launcher's variables?",
    """submit a job with `launcher: jax` on two nodes that prints `jax.device_count()`. Shown when it is the number of logical NeuronCores of both.""",
    cost="as L1",
    tier=2,
    reason="it needs an image of JAX for Neuron in the account",
)

untested(
    "L59",
    "Do the figures of a bake-off arrive in its table?",
    """define a `BakeOff` of one trn1.2xlarge and another small type on one node each, with a program that calls `report` in a loop. Shown when both rows
  of the dashboard have figures after five minutes.""",
    cost="two small instances, minutes",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L60",
    "Do p5 nodes find their GPUs and EFA on the GPU AMI, and jobs all of them?",
    """A rollout of one p5.4xlarge on demand with an ECS GPU AMI of AL2023. Shown when `/var/log/ultracluster-boot.log` says `1 of 1 GPU devices`, and a job
with the command `nvidia-smi -L` lists one GPU. Note whether that AMI has the EFA driver and the Lustre client, and the date.""",
    cost="one p5.4xlarge, minutes",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L61",
    "Is scratch joined and mounted on the ECS Neuron AMI?",
    """`scratch_path: /scratch` on a trn2.3xlarge (one disk) and a trn1.32xlarge (four). Shown when the boot log says `scratch of 1 disks` and `scratch of 4
disks`, and `df` in a job shows 470 and 7,600 GB. If it says that the image has no mdadm, note the AMI. Reboot the node
(`sudo reboot`): shown when `/scratch` is mounted again.""",
    cost="one trn2.3xlarge and one trn1.32xlarge, minutes",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L62",
    "Does the Neuron runtime take the place in the UltraServer from our variables, and in which order of ranks?",
    """A rollout of 4 trn2u.48xlarge in the block of one UltraServer. On each node `grep . /sys/class/neuron_device/*`; then a job of 4 nodes with
`nccom-test -r 256 -N 4 -d fp32 allr`. Shown when the job's log has four lines `UltraServer ..., node 0` to `3` with one server id, and the bandwidth is
above that of EFA alone (run it again with `NEURON_RT_ULTRASERVER_MODE=4` in the environment of the program). Note whether it changes when
the ranks follow the node ids.""",
    cost="one UltraServer for a day",
    tier=4,
    reason="not written yet; until then by hand",
)

untested(
    "L64",
    "Does EC2 take interfaces one by one as the rollout lays them out?",
    """Eight `network_interfaces` of a trn1.32xlarge with `device: 1` from card 1 on, on demand. Shown when `aws ec2 describe-network-interfaces` lists them as
asked, and the boot log says `8 of 8 EFA devices`.""",
    cost="one trn1.32xlarge, minutes",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L65",
    "Is the EFA module of the ECS Neuron AMI enough without the installer?",
    """Launch a small instance with EFA (such as `m6i.32xlarge`, or one of L1) from the ECS Neuron AMI with one `efa` interface, and run `modinfo efa`, `modprobe efa ib_uverbs` and
`ls /dev/infiniband`. Shown when `uverbs0` is there. Then `NeuronAmi` need not install the driver: put `efa-driver` into the row of `ecs-neuron`, with the date.""",
    cost="one small instance, minutes",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L66",
    "Does the pipeline of a `NeuronAmi` end in an AMI, with our role?",
    """Deploy `examples/node-image` with a real parent and image, and run `aws imagebuilder start-image-pipeline-execution`. Shown when
`aws imagebuilder list-image-pipeline-images` says `AVAILABLE`, and `ultracluster ami resolve ROLLOUT --baked nodes` finds the AMI in both Regions. An
`AccessDenied` in the log group `/aws/imagebuilder/…` names an action that our role lacks: add it to `build_role.py`, with the date. Note how long it took.""",
    cost="two small instances for an hour, snapshots",
    tier=1,
    reason="the parent image and the account's own parameters are choices of a person, and the pipeline takes an hour or more of two instances",
)

untested(
    "L67",
    "Does a node of a baked AMI join, and find its image without pulling it?",
    """L1 to L3 with the AMI of L66 in the rollout. Shown when the node joins, `docker image ls` on it lists the image, and the first job's container starts without the minutes of a pull
(`aws ecs describe-tasks --query 'tasks[].[pullStartedAt,pullStoppedAt]'`). Note whether a root volume of 200 GiB from a snapshot of 100 GiB is slow at first use.""",
    cost="as L1",
    tier=2,
    reason="it needs the AMI of L66, which has no test",
)

untested(
    "L68",
    "Does a training job run through the SageMaker queue and its plan, with our roles?",
    """Deploy `examples/sagemaker-queue` with a real plan, assume the role `Submitters`, and run `submit.py` with an image that ends by itself. Shown when
`aws batch describe-service-job` goes through `SCHEDULED` and `RUNNING` to `SUCCEEDED`, `aws sagemaker describe-training-job` shows the plan, and a job of another instance type stays
`RUNNABLE`. Note which resource `batch:SubmitServiceJob` is checked against, and the name that SageMaker gives the job.""",
    cost="one training plan",
    tier=2,
    reason="a training plan is bought in the console of SageMaker, for another price each time",
)

untested(
    "L69",
    "Which pulls through the cache work without a way out?",
    """In a subnet with endpoints alone, with `grant_pull`: pull an image that somebody pulled through the cache before (shown when it comes), and one that nobody did (shown when it fails).
The guide says that the second needs a NAT gateway.""",
    cost="one small instance, minutes",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L70",
    "Does a budget count the cluster, tell people and close the queue?",
    """Activate `ultracluster:cluster` as a cost allocation tag (billing console of the paying account; up to a day). Deploy a cluster with `budget: {monthly_usd: 1, emails: [you],
close_queues_at_percent: 100}` and let one small node run for a few hours. Shown when the mails for 50, 80 and 100 % arrive, `aws batch describe-job-queues` shows
`DISABLED` and the tag `ultracluster:closed-by-budget`, a job that ran before goes on, and the life cycle leaves the queue closed. Note how many hours after the money was spent, whether
AWS Budgets takes a topic of this Region, and whether it publishes over TLS to a topic that requires it. Repeat the purge of the tag and the opening by hand.""",
    cost="as much as is spent to cross a limit of 1 USD",
    tier=1,
    reason="AWS Budgets sees spending many hours late, tells people by mail, and needs a cost allocation tag that only the paying account activates",
)

untested(
    "L71",
    "Which tags does the fee of a Capacity Block carry on the bill, and in which month?",
    """After L1: in Cost Explorer, group the month of the purchase by usage type and by the tag `ultracluster:cluster`. Note the service and usage type of the fee, the day on which it
stands, and whether it has the tag of the reservation. If it has not, write into [cost.md](cost.md) that a budget does not see it.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L72",
    "Are the prices of an estimate those of the bill?",
    """Two days after L1: `ultracluster cost ROLLOUT --hours H` with the hours of the run beside the bill, line by line. Each line that differs by more than 3 % is a wrong or old price: put the new one
with the day into `ultracluster_catalog/prices/prices.py` or `service_prices.py`.""",
    cost="as L1",
    tier=2,
    reason="the bill stands days later, and each difference is judged by a person",
)

untested(
    "L78",
    "What does EC2 show of a block before its start, and of one that is shared?",
    """run `aws ec2 describe-capacity-reservations` for a block before its start: note `TotalInstanceCount`, `AvailableInstanceCount`, and whether the tag
  `aws:ec2capacityreservation:incrementalRequestedQuantity` has the number that was bought. Share it, and look at UC9430 from the other account.""",
    cost="one block of one day",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L81",
    "Does a deployment that was killed go on, and does the resumed one change nothing twice?",
    """start a rollout of two clusters, kill the process with `kill -9` while the first stack of a cluster is being created, and run it with `--resume`. Shown when it says that it
  waits, goes on, and `aws cloudformation describe-stack-events` has one `CREATE_COMPLETE` for each resource.""",
    cost="as the quick start without nodes",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L82",
    "Does a rollout stop when an alarm of the canary is heard, and how late?",
    """roll out with `--bake 15`, and during the bake `aws cloudwatch set-alarm-state` an alarm of the canary to `ALARM`. Shown when the rollout ends with 4 and names it; note the seconds.""",
    cost="as L81",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L84",
    "Do the StackSets reach the accounts of a unit, one after the other, by a delegated administrator?",
    """register a delegated administrator, and follow "As StackSets" of [export.md](export.md) with a unit of one test account. Shown when `aws cloudformation list-stack-instances` has
  CURRENT for the three StackSets and the stacks of the test account are complete. Note whether a StackSet waits for the one before.""",
    cost="as L83, in an organization",
    tier=1,
    reason="it needs an organization with a delegated administrator, which no test may change",
)

untested(
    "L86",
    "Are the counters of neuron-monitor, EFA and Lustre where the service reads them?",
    """on a trn2 node with a running job compare one log event with `neuron-top`, `rdma -p statistic show` and `lctl get_param llite.*.stats`. Note whether
  `mem_ecc_uncorrected` only grows, whether `neuroncore_utilization` is per logical NeuronCore, and whether `tx_bytes` of EFA holds RDMA too.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L87",
    "Does `TcpFallback` tell EFA from TCP in a running job?",
    """run the fabric gate on two nodes with `FI_PROVIDER=efa`, then with `FI_PROVIDER=tcp`, each for ten minutes of a real step. Shown when only the second raises
  `TcpFallback`, within eight minutes. If neither: look whether `/proc/PID/net/dev` of the job's process shows the task's interface.""",
    cost="as L7",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L88",
    "How late do alarms come, and are they quiet in a clean run?",
    """leave the block of L1 without a job for half an hour: `Unused` or `Idle` after 15 minutes and a few. Then train for a day: no mail but `DrainComing`.""",
    cost="as L1",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L96",
    "Is no metric line torn by what other processes print?",
    """As L95 on two nodes with `processes_per_node` left out, while every process prints progress bars. Shown when `EMFParsingErrors` stays 0: no line
  is torn by what others print.""",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L97",
    "Does the metrics page show what the console shows?",
    """a day later, `ultracluster dashboard --cluster NAME --hours 24 --file-system fs-… --html page.html` with a role that has `cloudwatch:ListMetrics` and
  `cloudwatch:GetMetricData` alone. Shown when the page has the jobs of the day, the values of the console at three times, and the free space of the
  file system as `aws cloudwatch get-metric-statistics` gives it for a period of a minute.""",
    tier=2,
    reason="a person compares the page with the console",
)

untested(
    "L100",
    "Does a replicated compile cache spare the second Region every compilation?",
    """two clusters with small Neuron nodes in two Regions, the second with `compile_cache: {versioned: true}`, the first with `replicate_to` its bucket
  ([regions.md](regions.md)). Submit `precompile` in the first. Expected: after 15 minutes `aws s3 ls --recursive` shows the same keys under `neuron/` in
  both; note every key that is no `model.neff`, `model.hlo` or flag file, above all locks. Then run the same program in the second: nothing is compiled.
  Remove one entry in the first by hand: it stays in the second.""",
    cost="two small nodes for an hour, transfer of the entries",
    tier=1,
    reason="two clusters in two Regions for hours, whose keys a person judges",
)

untested(
    "L101",
    "Do launches of AWS Batch take from the bucket of RunInstances, and how fast does a Region start?",
    """a cluster of 20 small on-demand nodes. Submit a job on all of them; look in CloudTrail at the RunInstances requests (who, how many instances each,
  `Client.RequestLimitExceeded`), and in CloudWatch at `AWS/EC2/API`, which AWS Support switches on for an account. Expected: they are those of the account.""",
    cost="20 small on-demand nodes for minutes",
    tier=2,
    reason="not written yet; until then by hand",
)

untested(
    "L104",
    "Do nodes start, jobs log, alarms tell and FSx copy with a `ClusterKey`?",
    """the same cluster with `kms_key_arn` of a new `ClusterKey`, `alarms` and `budget`, in an account whose service-linked roles of Auto Scaling and Spot were never
  made. Shown when the node starts (no `Client.InternalError` in `describe-instances`), its root volume and the file system name the key, the job's log is readable, `aws cloudwatch set-alarm-state` of an
  alarm brings a mail, and a file that was written below the checkpoints' folder is in the bucket. Then take the statement `GrantForVolumes` from the key: note what AWS Batch says.""",
    cost="one small on-demand node, a file system for an hour",
    tier=1,
    reason="not written yet; until then by hand",
)

untested(
    "L105",
    "Does a cluster work under a path and within a boundary?",
    """the same cluster with `role_path` and a boundary of the union of docs/security.md. Shown when the job runs; `aws iam get-role` has both. Then take `ecs:Poll` from the boundary: the node must not
  join, and preflight and the read-back should say so; note what they say.""",
    cost="one small on-demand node for minutes",
    tier=1,
    reason="not written yet; until then by hand",
)
