"""Questions without a test, each with the reason why it has none, and the steps by hand."""

from tests.live.question import untested

untested(
    "L6",
    "Can a node work with VPC endpoints alone?",
    """In the deployed network, during L1. Expected: the job's log stream exists in CloudWatch, the image was pulled, Session Manager connects, and `curl --max-time 5
https://example.com` on the node fails.""",
    cost="one small instance for minutes",
    tier=1,
    reason="it needs an image that somebody pushed to the account's Amazon ECR, because nodes without internet access reach no other registry",
)


untested(
    "L23",
    "Does the guard's message arrive?",
    """Assume the search role, whose purchases are denied, and name an offering that does not exist, so that nothing could be bought even if it were allowed: `aws ec2
purchase-capacity-block --capacity-block-offering-id cb-00000000000000000 --instance-platform Linux/UNIX`. Expected: the subscribers of the topic get a message
that names the call, the role and `Client.UnauthorizedOperation`, and got none for the dry runs before. Note how long it took.""",
    tier=1,
    reason="a person reads the mail, and the stack in examples/capacity-ledger is deployed with the CDK",
)

untested(
    "L40",
    "Do the nodes of a resource group run only in its reservations, even when they are full?",
    """Run `aws ec2 create-capacity-reservation --instance-count 1`, create a resource group with the configuration `AWS::EC2::CapacityReservationPool`, and deploy a
cluster with `resource_group_arn` and two nodes. Submit two jobs of one node. Expected: one instance has the reservation's ID in `describe-instances`; the
second is refused (`ReservationCapacityExceeded` in the activity of the Auto Scaling group) and not started on demand. Cancel the reservation at once
afterwards.""",
    cost="one small reservation for minutes",
    tier=1,
    reason="the resource group must be in the rollout before the deployment, and the cluster of L83 has neither a resource group nor a reservation",
)

untested(
    "L42",
    "Does the first source hold back a multi-node job while EC2 has no instances for it?",
    """Use a queue whose first source is a reservation without a free instance, and whose second is on-demand. Expected: a multi-node job stays RUNNABLE for an hour,
the second environment keeps desiredvCpus 0, and `ultracluster jobs why` reports `held-by-the-first-source`.""",
    tier=1,
    reason="after an hour a person has to judge why the job waits, and a full reservation must be paid for; L41 tests a first source that is closed",
)

untested(
    "L49",
    "What does an hour of each kind of file system cost on the bill?",
    """A day after L45, look at service FSx by usage type in Cost Explorer. Record USD per GB-month, per MB/s-month, per metadata IOPS and per GB of read cache, with
the day and the Region, in `ultracluster_catalog/prices/prices.py`. The file now has prices only for SCRATCH_2 and 125 MB/s for each TiB, in us-east-1.""",
    cost="same as L45",
    tier=1,
    reason="the bill of L45 is available a day later, and a person reads its usage types and enters them into the price tables",
)

untested(
    "L51",
    "Does a trn2 node find Trainium2 graphs that a trn1.2xlarge compiled?",
    """On a trn2 node, run the program with `NEURON_EXTRACT_GRAPHS_ONLY=1` for 10 steps. On the trn1.2xlarge, run a precompile job with `phase: compile`. Then run the
program on the trn2 node. Repeat with `instance_type: cpu`. Expected: "Using a cached neff" and no compilation. Note how long each phase took and whether 32 GiB
sufficed.""",
    cost="same as L1, and one trn1.2xlarge for an hour",
    tier=2,
    reason="the program is the user's, and a person judges each phase",
)

untested(
    "L53",
    "Do nodes share the TorchNeuron cache on the file system?",
    """Use two nodes, an image of TorchNeuron and `compile_cache: {on_file_system: true}`. Expected: the folder `torchneuron` is made, the second node and the second
run compile nothing, and no entry is damaged when both compile the same graph at once.""",
    cost="same as L1",
    tier=2,
    reason="it needs an image of TorchNeuron, which AWS does not publish yet",
)

untested(
    "L57",
    "Does the smoke training run under torch-neuronx and under TorchNeuron, with equal losses?",
    """Submit with `gates: {smoke: true}` and an image of torch-neuronx, then with `device: neuron` and an image of TorchNeuron (trn2 only). Expected: `smoke train:
passed`, with all ranks counted. If the losses of ranks on healthy nodes differ in the last bits, note by how much.""",
    cost="same as L1",
    tier=2,
    reason="it needs images of torch-neuronx and TorchNeuron in the account",
)

untested(
    "L58",
    "Does JAX find all NeuronCores with the variables that the launcher sets?",
    """Submit a job with `launcher: jax` on two nodes that prints `jax.device_count()`. Expected: the number of logical NeuronCores of both nodes.""",
    cost="same as L1",
    tier=2,
    reason="it needs an image of JAX for Neuron in the account",
)

untested(
    "L59",
    "Do the figures of a bake-off reach its table?",
    """Define a `BakeOff` of one trn1.2xlarge and another small type on one node each, with a program that calls `report` in a loop. Expected: both rows of the
dashboard have figures after five minutes.""",
    cost="two small instances for minutes",
    tier=1,
    reason="the program and its two machines are the user's, and a `BakeOff` is defined in an app, not in a rollout that a live run can export",
)

untested(
    "L60",
    "Do p5 nodes find their GPUs and EFA on the GPU AMI, and do jobs get all GPUs?",
    """Deploy a rollout of one on-demand p5.4xlarge with an ECS GPU AMI of AL2023. Expected: `/var/log/ultracluster-boot.log` has `1 of 1 GPU devices`, and a job with
the command `nvidia-smi -L` lists one GPU. Note whether that AMI has the EFA driver and the Lustre client, and the date.""",
    cost="one p5.4xlarge for minutes",
    tier=1,
    reason="it needs an ECS GPU AMI, and the catalogue knows no public parameter for one",
)

untested(
    "L62",
    "Does the Neuron runtime take a node's place in the UltraServer from the launcher's variables, and in which order are the ranks?",
    """Deploy a rollout of 4 trn2u.48xlarge in the block of one UltraServer. Run `grep . /sys/class/neuron_device/*` on each node, then a job of 4 nodes with
`nccom-test -r 256 -N 4 -d fp32 allr`. Expected: the job's log has four lines `UltraServer ..., node 0` to `3` with one server ID, and the bandwidth is above
that of EFA alone. Run it again with `NEURON_RT_ULTRASERVER_MODE=4` in the environment of the program. Note whether the bandwidth changes when the ranks follow
the node IDs.""",
    cost="one UltraServer for a day",
    tier=4,
    reason="no dated price of an UltraServer is known, so that its worst case cannot be reserved",
)

untested(
    "L66",
    "Does the pipeline of a `NeuronAmi` produce an AMI with the role that the construct defines?",
    """Deploy `examples/node-image` with a real parent and image, and run `aws imagebuilder start-image-pipeline-execution`. Expected: `aws imagebuilder
list-image-pipeline-images` reports `AVAILABLE`, and `ultracluster ami resolve ROLLOUT --baked nodes` finds the AMI in both Regions. If the log group
`/aws/imagebuilder/…` has an `AccessDenied`, add the action that it names to `neuron_ami.py`, with the date. Note how long the build took.""",
    cost="two small instances for an hour, snapshots",
    tier=1,
    reason="a person chooses the parent image and the account's parameters, and the pipeline occupies two instances for an hour or more",
)

untested(
    "L67",
    "Does a node of a baked AMI join, and find its image without pulling it?",
    """Repeat L1 to L3 with the AMI of L66 in the rollout. Expected: the node joins, `docker image ls` on it lists the image, and the first job's container starts
without minutes of pulling (`aws ecs describe-tasks --query 'tasks[].[pullStartedAt,pullStoppedAt]'`). Note whether a root volume of 200 GiB from a snapshot of
100 GiB is slow at first use.""",
    cost="same as L1",
    tier=2,
    reason="it needs the AMI of L66, which has no test",
)

untested(
    "L68",
    "Does a training job run through the SageMaker queue and its plan, with the roles of the example?",
    """Deploy `examples/sagemaker-queue` with a real plan, assume the role `Submitters`, and run `submit.py` with an image that ends by itself. Expected: `aws batch
describe-service-job` goes through `SCHEDULED` and `RUNNING` to `SUCCEEDED`, `aws sagemaker describe-training-job` shows the plan, and a job of another instance
type stays `RUNNABLE`. Note which resource `batch:SubmitServiceJob` is checked against, and the name that SageMaker gives the job.""",
    cost="one training plan",
    tier=2,
    reason="a training plan is bought in the SageMaker console, at a price that differs each time",
)

untested(
    "L69",
    "Which pulls through the cache work without internet access?",
    """In a subnet with only VPC endpoints, with `grant_pull`: pull an image that was pulled through the cache before, and one that was not. Expected: the first pull
succeeds and the second fails; the guide says that it needs a NAT gateway.""",
    cost="one small instance for minutes",
    tier=1,
    reason="it needs a pull-through cache and an image that somebody pulled before",
)

untested(
    "L70",
    "Does a budget count the cluster's costs, notify people and close the queue?",
    """Activate `ultracluster:cluster` as a cost allocation tag (in the billing console of the paying account; this takes up to a day). Deploy a cluster with `budget:
{monthly_usd: 1, emails: [you], close_queues_at_percent: 100}` and let one small node run for a few hours. Expected: the mails for 50, 80 and 100 % arrive, `aws
batch describe-job-queues` shows `DISABLED` and the tag `ultracluster:closed-by-budget`, a running job continues, and the life cycle leaves the queue closed.
Note how many hours after the spending this happens, whether AWS Budgets accepts a topic in this Region, and whether it publishes over TLS to a topic that
requires it. Remove the tag and open the queue by hand, and repeat.""",
    cost="whatever it takes to exceed a limit of 1 USD",
    tier=1,
    reason="AWS Budgets counts spending many hours late, notifies people by mail, and needs a cost allocation tag that only the paying account can activate",
)

untested(
    "L72",
    "Do the prices of an estimate match the bill?",
    """Two days after L1, compare `ultracluster cost ROLLOUT --hours H`, with the hours of the run, with the bill, line by line. A line that differs by more than 3 %
has a wrong or old price: record the new one with the day in `ultracluster_catalog/prices/price_table.json`.""",
    cost="same as L1",
    tier=2,
    reason="the bill is available days later, and a person judges each difference",
)

untested(
    "L81",
    "Does an interrupted deployment resume, and apply nothing twice?",
    """Start a rollout of two clusters, stop the process with `kill -9` while the first stack of a cluster is being created, and run it again with `--resume`.
Expected: it reports that it waits, then continues, and `aws cloudformation describe-stack-events` has one `CREATE_COMPLETE` for each resource.""",
    cost="the quick start without nodes",
    tier=1,
    reason="a person chooses the moment at which to kill the process; tests/integration/test_rollouts_on_local_aws.py does so on the local AWS",
)

untested(
    "L82",
    "Does a rollout stop when an alarm of the canary goes off, and how soon?",
    """Roll out with `--bake 15`, and during the bake set an alarm of the canary to `ALARM` with `aws cloudwatch set-alarm-state`. Expected: the rollout exits with 4
and names the alarm. Note the seconds.""",
    cost="same as L81",
    tier=1,
    reason="same as L81",
)

untested(
    "L84",
    "Do StackSets of a delegated administrator reach the accounts of an organizational unit one after the other?",
    """Register a delegated administrator, and follow "As StackSets" in [export.md](../how-to/export.md) with a unit of one test account. Expected: `aws cloudformation
list-stack-instances` reports CURRENT for the three StackSets, and the stacks of the test account are complete. Note whether each StackSet waits for the one
before.""",
    cost="same as L83, in an organization",
    tier=1,
    reason="it needs an organization with a delegated administrator, which no test may change",
)

untested(
    "L87",
    "Does `TcpFallback` distinguish EFA from TCP in a running job?",
    """Run the fabric gate on two nodes with `FI_PROVIDER=efa`, then with `FI_PROVIDER=tcp`, each for ten minutes of a real step. Expected: only the second sets off
`TcpFallback`, within eight minutes. If neither does, check whether `/proc/PID/net/dev` of the job's process shows the task's interface.""",
    cost="same as L7",
    tier=2,
    reason="both runs need a job that a person writes; L7 tests the part that does not",
)

untested(
    "L96",
    "Are metric lines intact when other processes print at the same time?",
    """Repeat L95 on two nodes without `processes_per_node`, while every process prints progress bars. Expected: `EMFParsingErrors` stays 0, so that no output of
another process broke a metric line.""",
    tier=1,
    reason="it needs two nodes whose programs print progress bars, and a person who reads EMFParsingErrors a day later; L95 prints both kinds of lines on one node",
)

untested(
    "L97",
    "Does the metrics page show what the console shows?",
    """A day later, run `ultracluster dashboard --cluster NAME --hours 24 --file-system fs-… --picture page.html` with a role that has only `cloudwatch:ListMetrics`
and `cloudwatch:GetMetricData`. Expected: the page has the jobs of the day, the same values as the console at three times, and the free space of the file system
that `aws cloudwatch get-metric-statistics` reports for a period of a minute.""",
    tier=2,
    reason="a person compares the page with the console",
)

untested(
    "L100",
    "Does a replicated compile cache save the second Region all compilation?",
    """Deploy two clusters with small Neuron nodes in two Regions: the second with `compile_cache: {versioned: true}`, the first with `replicate_to` its bucket
([regions.md](../concepts/regions.md)). Submit `precompile` in the first. Expected: after 15 minutes `aws s3 ls --recursive` shows the same keys under `neuron/`
in both. Note every key that is not a `model.neff`, `model.hlo` or flag file, above all locks. Then run the same program in the second. Expected: nothing is
compiled. Remove one entry in the first by hand. Expected: the second keeps it.""",
    cost="two small nodes for an hour, and the transfer of the entries",
    tier=1,
    reason="it needs two clusters in two Regions for hours, and a person who judges the keys",
)

untested(
    "L104",
    "Do nodes, job logs, alarms and FSx exports work with a `ClusterKey`?",
    """Deploy the cluster of L83 with `kms_key_arn` of a new `ClusterKey`, `alarms` and `budget`, in an account that never had the service-linked roles of Auto Scaling
and Spot. Expected: the node starts (no `Client.InternalError` in `describe-instances`), its root volume and the file system name the key, the job's log is
readable, setting an alarm with `aws cloudwatch set-alarm-state` sends a mail, and a file written below the checkpoints' folder appears in the bucket. Then
remove the statement `GrantForVolumes` from the key, and note what AWS Batch reports.""",
    cost="one small on-demand node and a file system for an hour",
    tier=1,
    reason="a person reads the mail, and a key cannot be deleted for seven days, so that the run would leave it behind",
)

untested(
    "L105",
    "Does a cluster work with a role path and a permissions boundary?",
    """Deploy the cluster of L83 with `role_path` and the union boundary in docs/reference/security.md. Expected: the job runs, and `aws iam get-role` shows the path
and the boundary. Then remove `ecs:Poll` from the boundary. Expected: the node does not join, and preflight and the read-back report it; note their messages.""",
    cost="one small on-demand node for minutes",
    tier=1,
    reason="the boundary is a policy that a person writes for the account, and removing an action from it affects everybody else who uses it",
)


untested(
    "L124",
    "Can an Auto Scaling group be created at desired capacity 0 with the launch template of a block that has not begun?",
    """After L31 and before the block starts: run `aws autoscaling create-auto-scaling-group` with the launch template of the block, minimum and desired capacity 0,
then set both to 1. Note what `describe-scaling-activities` reports. This is F4 in [decision 0024](../decisions/0024-auto-scaling-road.md).""",
    cost="same as L31",
    tier=2,
    reason="AWS Batch fills the one block that a run buys, and leaves no room for the nodes of a group",
)


untested(
    "L126",
    "Are the children of an older array placed before those of a newer one, also after a retry and with shares?",
    """Repeat L125 with three instances and two arrays of three, in the first of which a child fails once. Then repeat it with two shares and `unmanagedvCpus`. This is
F7 and F8 in [decision 0024](../decisions/0024-auto-scaling-road.md).""",
    cost="three small instances for minutes",
    tier=1,
    reason="a person judges the order of the children by their times",
)


untested(
    "L127",
    "How long is the place of a terminated node in a block unavailable, and how often does a group try in the meantime?",
    """During a block, with a group as in L124 at its full size: terminate one instance, and note each activity until the next one runs. Then run an array child with
all vCPUs and 0.96 of the memory on it. This is F9 and F10 in [decision 0024](../decisions/0024-auto-scaling-road.md).""",
    cost="same as L118",
    tier=3,
    reason="it needs the group of L124",
)


untested(
    "L128",
    "Does an Auto Scaling group accept a resource group of several blocks in its launch template?",
    """Put two blocks into one resource group, and name it as `CapacityReservationResourceGroupArn` in the launch template of a group. This is F11 in [decision
0024](../decisions/0024-auto-scaling-road.md).""",
    cost="two blocks",
    tier=3,
    reason="no other question needs two blocks at once",
)
