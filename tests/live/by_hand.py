"""Questions without a test, each with the reason why it has none, and the steps by hand."""

from tests.live.question import untested

untested(
    "L6",
    "Can a node live on endpoints alone?",
    """In the deployed network, during L1: the job's log stream exists in CloudWatch, the image was pulled, Session Manager connects, and
`curl --max-time 5 https://example.com` on the node fails.""",
    cost="one small instance, minutes",
    tier=1,
    reason="it needs an image in the Amazon ECR of the account, which a person pushes: nodes without internet access reach no other registry",
)


untested(
    "L23",
    "Does the guard's message arrive?",
    """As the search role, whose purchases are denied, and with an offering that does not exist, so that nothing could be bought even if it were allowed:
`aws ec2 purchase-capacity-block --capacity-block-offering-id cb-00000000000000000 --instance-platform Linux/UNIX`. Shown when the subscribers of the topic
get a message that names the call, the role and `Client.UnauthorizedOperation`, and have got none of the dry runs before. Note how
long it took.""",
    tier=1,
    reason="a person reads the mail; the stack of examples/capacity-ledger is deployed with the CDK",
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
    reason="the resource group must be in the rollout before the deployment, and the cluster of L83 has none; the launch template of L83 names no reservation",
)

untested(
    "L42",
    "Does the first source hold a multi-node job while EC2 has no instances for it?",
    """a queue whose first source is a reservation with no free instance, and whose second is on-demand. Shown when a multi-node job stays RUNNABLE
  for an hour, the second environment keeps desiredvCpus 0, and `ultracluster jobs why` says `held-by-the-first-source`.""",
    tier=1,
    reason="a person judges after an hour why the job waits, and a reservation that is full is paid for all of it; L41 asks what a closed first source does",
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
    reason="the program and its two machines are those of a user, and a `BakeOff` is defined in an app, not in a rollout that a live run can export",
)

untested(
    "L60",
    "Do p5 nodes find their GPUs and EFA on the GPU AMI, and jobs all of them?",
    """A rollout of one p5.4xlarge on demand with an ECS GPU AMI of AL2023. Shown when `/var/log/ultracluster-boot.log` says `1 of 1 GPU devices`, and a job
with the command `nvidia-smi -L` lists one GPU. Note whether that AMI has the EFA driver and the Lustre client, and the date.""",
    cost="one p5.4xlarge, minutes",
    tier=1,
    reason="it needs an ECS GPU AMI, for which AWS publishes no parameter that the catalogue knows",
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
    reason="no dated price of an UltraServer is known, so that its worst case cannot be reserved",
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
    "Which pulls through the cache work without internet access?",
    """In a subnet with endpoints alone, with `grant_pull`: pull an image that somebody pulled through the cache before (shown when it comes), and one that nobody did (shown when it fails).
The guide says that the second needs a NAT gateway.""",
    cost="one small instance, minutes",
    tier=1,
    reason="it needs a pull-through cache and an image that somebody pulled before",
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
    "L72",
    "Are the prices of an estimate those of the bill?",
    """Two days after L1: `ultracluster cost ROLLOUT --hours H` with the hours of the run beside the bill, line by line. Each line that differs by more than 3 % is a wrong or old price: put the new one
with the day into `ultracluster_catalog/prices/prices.py` or `service_prices.py`.""",
    cost="as L1",
    tier=2,
    reason="the bill stands days later, and each difference is judged by a person",
)

untested(
    "L81",
    "Does a deployment that was killed go on, and does the resumed one change nothing twice?",
    """start a rollout of two clusters, kill the process with `kill -9` while the first stack of a cluster is being created, and run it with `--resume`. Shown when it says that it
  waits, goes on, and `aws cloudformation describe-stack-events` has one `CREATE_COMPLETE` for each resource.""",
    cost="as the quick start without nodes",
    tier=1,
    reason="a process is killed by hand at a moment that a person chooses; tests/integration/test_rollouts_on_local_aws.py kills it on the local AWS",
)

untested(
    "L82",
    "Does a rollout stop when an alarm of the canary is heard, and how late?",
    """roll out with `--bake 15`, and during the bake `aws cloudwatch set-alarm-state` an alarm of the canary to `ALARM`. Shown when the rollout ends with 4 and names it; note the seconds.""",
    cost="as L81",
    tier=1,
    reason="as L81",
)

untested(
    "L84",
    "Do the StackSets reach the accounts of a unit, one after the other, by a delegated administrator?",
    """register a delegated administrator, and follow "As StackSets" of [export.md](../how-to/export.md) with a unit of one test account. Shown when `aws cloudformation list-stack-instances` has
  CURRENT for the three StackSets and the stacks of the test account are complete. Note whether a StackSet waits for the one before.""",
    cost="as L83, in an organization",
    tier=1,
    reason="it needs an organization with a delegated administrator, which no test may change",
)

untested(
    "L87",
    "Does `TcpFallback` tell EFA from TCP in a running job?",
    """run the fabric gate on two nodes with `FI_PROVIDER=efa`, then with `FI_PROVIDER=tcp`, each for ten minutes of a real step. Shown when only the second raises
  `TcpFallback`, within eight minutes. If neither: look whether `/proc/PID/net/dev` of the job's process shows the task's interface.""",
    cost="as L7",
    tier=2,
    reason="its two runs take a job that a person writes; L7 asks for the half that needs no such job",
)

untested(
    "L96",
    "Is no metric line torn by what other processes print?",
    """As L95 on two nodes with `processes_per_node` left out, while every process prints progress bars. Shown when `EMFParsingErrors` stays 0: no line
  is torn by what others print.""",
    tier=1,
    reason="it needs two nodes whose programs print progress bars, and a person who looks at EMFParsingErrors a day later; L95 prints both on one node",
)

untested(
    "L97",
    "Does the metrics page show what the console shows?",
    """a day later, `ultracluster dashboard --cluster NAME --hours 24 --file-system fs-… --picture page.html` with a role that has `cloudwatch:ListMetrics` and
  `cloudwatch:GetMetricData` alone. Shown when the page has the jobs of the day, the values of the console at three times, and the free space of the
  file system as `aws cloudwatch get-metric-statistics` gives it for a period of a minute.""",
    tier=2,
    reason="a person compares the page with the console",
)

untested(
    "L100",
    "Does a replicated compile cache spare the second Region every compilation?",
    """two clusters with small Neuron nodes in two Regions, the second with `compile_cache: {versioned: true}`, the first with `replicate_to` its bucket
  ([regions.md](../concepts/regions.md)). Submit `precompile` in the first. Expected: after 15 minutes `aws s3 ls --recursive` shows the same keys under `neuron/` in
  both; note every key that is no `model.neff`, `model.hlo` or flag file, above all locks. Then run the same program in the second: nothing is compiled.
  Remove one entry in the first by hand: it stays in the second.""",
    cost="two small nodes for an hour, transfer of the entries",
    tier=1,
    reason="two clusters in two Regions for hours, whose keys a person judges",
)

untested(
    "L104",
    "Do nodes start, jobs log, alarms tell and FSx copy with a `ClusterKey`?",
    """the same cluster with `kms_key_arn` of a new `ClusterKey`, `alarms` and `budget`, in an account whose service-linked roles of Auto Scaling and Spot were never
  made. Shown when the node starts (no `Client.InternalError` in `describe-instances`), its root volume and the file system name the key, the job's log is readable, `aws cloudwatch set-alarm-state` of an
  alarm brings a mail, and a file that was written below the checkpoints' folder is in the bucket. Then take the statement `GrantForVolumes` from the key: note what AWS Batch says.""",
    cost="one small on-demand node, a file system for an hour",
    tier=1,
    reason="a person reads the mail, and a key that the run makes cannot be deleted for seven days: its removal would not be complete when the run ends",
)

untested(
    "L105",
    "Does a cluster work under a path and within a boundary?",
    """the same cluster with `role_path` and a boundary of the union of docs/reference/security.md. Shown when the job runs; `aws iam get-role` has both. Then take `ecs:Poll` from the boundary: the node must not
  join, and preflight and the read-back should say so; note what they say.""",
    cost="one small on-demand node for minutes",
    tier=1,
    reason="its boundary is a policy that a person writes for the account, and taking an action from it changes what every other user of the boundary may do",
)


untested(
    "L124",
    "Does a group with the launch template of a block that has not begun pass its creation at desired capacity 0?",
    """After L31 and before the block starts: `aws autoscaling create-auto-scaling-group` with the launch template of the block, minimum and desired capacity 0, then 1. Note what `describe-scaling-activities` says. F4 of
[0024](../decisions/0024-auto-scaling-road.md).""",
    cost="as L31",
    tier=2,
    reason="the one block that a run buys is full of nodes that AWS Batch launches, and leaves no place for those of a group",
)


untested(
    "L126",
    "Are children of an older array placed before those of a younger one, also after a retry and with shares?",
    """As L125 with three instances: two arrays of three, the first with a child that fails once; then the same with two shares and `unmanagedvCpus`. F7 and F8 of
[0024](../decisions/0024-auto-scaling-road.md).""",
    cost="three small instances, minutes",
    tier=1,
    reason="a person judges the order of the children by their times",
)


untested(
    "L127",
    "How long is the place of a terminated node in a block unavailable, and how often does a group try in the meantime?",
    """During a block, with a group as in L124 at its full size: terminate one instance, and note each activity until the next one runs; then a child with all vCPUs and 0.96 of the memory on it. F9 and F10 of
[0024](../decisions/0024-auto-scaling-road.md).""",
    cost="as L118",
    tier=3,
    reason="it needs the group of L124",
)


untested(
    "L128",
    "Does a group take a resource group of several blocks in its launch template?",
    """With two blocks in one resource group: the launch template of a group names `CapacityReservationResourceGroupArn`. F11 of
[0024](../decisions/0024-auto-scaling-road.md).""",
    cost="two blocks",
    tier=3,
    reason="two blocks at once are bought for no other question",
)
