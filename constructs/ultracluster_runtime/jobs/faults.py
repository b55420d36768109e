"""Known faults of jobs: the words by which each is recognized, what it means and what to do.

`ultracluster jobs why` looks for them in what AWS Batch reports of a job and in its log. `ultracluster docs
job-faults` lists the faults, and `ultracluster docs job-failed` the exit codes with what to do, which a test compares.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from signal import Signals
from typing import Final

from ultracluster_catalog.names.launcher import LOST_NODE

_ECS: Final = "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"
_PULL: Final = f"{_ECS}task_cannot_pull_image.html"
_BATCH: Final = "https://docs.aws.amazon.com/batch/latest/userguide/"
_NEURON: Final = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/"
_RUNTIME: Final = f"{_NEURON}neuron-runtime/nrt-troubleshoot.html"
_STATUS: Final = f"{_NEURON}neuron-runtime/api/nrt_status.html"
_COMPILER: Final = f"{_NEURON}compiler/error-codes/index.html"
_LUSTRE: Final = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/lfs-migrate-ts.html"
_ERRNO: Final = "https://man7.org/linux/man-pages/man3/errno.3.html"
_SIGNALS: Final = "https://man7.org/linux/man-pages/man7/signal.7.html"
_SHELL: Final = "https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html"
_AWS_CLI: Final = "https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-returncodes.html"
_LAUNCHER: Final = "constructs/ultracluster_catalog/names/launcher.py"  # the launcher is ours


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Fault with a known remedy."""

    name: str  # stable name, such as image-not-found
    seen: str  # regular expression of the words by which it is recognized
    means: str
    remedy: str
    source: str  # page or report that shows the words or says what they mean


FAULTS: Final = (
    # What AWS Batch and Amazon ECS report of a container. A line counts for the first fault that it matches.
    Fault(
        name="image-denied",
        seen=r"CannotPull\w*Error.*(denied|\b40[13]\b|[Uu]nauthorized|no basic auth|not authorized)",
        means="the node may not pull the image",
        remedy="Allow the account in the policy of the repository, and the execution role of the job to pull "
        "(ecr:GetAuthorizationToken, ecr:BatchGetImage, ecr:GetDownloadUrlForLayer)",
        source=_PULL,
    ),
    Fault(
        name="image-not-found",
        seen=r"CannotPull\w*Error.*(manifest unknown|not found|does not exist|no such image)",
        means="the registry has no such image or tag",
        remedy="Push the image, or correct its name and tag in the job, deploy and submit it again",
        source=_PULL,
    ),
    Fault(
        name="image-too-large",
        seen=r"CannotPull\w*Error.*no space left",
        means="the root volume of the node is too small for the image",
        remedy="Use a smaller image or a larger root volume",
        source=_PULL,
    ),
    Fault(
        name="image-rate-limit",
        seen=r"CannotPull\w*Error.*(toomanyrequests|rate limit|\b429\b)",
        means="the registry limits the number of pulls",
        remedy="Copy the image to Amazon ECR, or use a pull-through cache",
        source=_PULL,
    ),
    Fault(
        name="image-of-another-platform",
        seen=r"CannotPull\w*Error.*(no matching manifest|does not match the specified platform|descriptor matching platform)"
        r"|exec format error",
        means="the image is built for another processor than that of the nodes (x86-64)",
        remedy="Build it with docker build --platform linux/amd64",
        source=_PULL,
    ),
    Fault(
        name="registry-unreachable",
        seen=r"CannotPull\w*Error.*(timeout|timed out|deadline exceeded|no such host|dial tcp|connection refused|"
        r"client connection|Client.Timeout|request canceled)",
        means="the node does not reach the registry",
        remedy="Check the endpoints of the VPC (ecr.api, ecr.dkr and s3), or the way to the internet for another registry "
        "(ultracluster docs reach-the-internet)",
        source=_PULL,
    ),
    Fault(
        name="image-not-pulled",
        seen=r"CannotPull\w*Error",
        means="the node could not pull the image",
        remedy="Correct what the message names, and submit the job again",
        source=_PULL,
    ),
    Fault(
        name="secret-not-read",
        seen=r"ResourceInitializationError.*(secret|ssm|parameter)|unable to (pull|retrieve) secrets",
        means="the execution role could not read a secret of the job",
        remedy="Check the ARN of the secret, the permissions of the execution role and of its KMS key, and the endpoint "
        "secretsmanager of the VPC",
        source=f"{_ECS}resource-initialization-error.html",
    ),
    Fault(
        name="log-group-missing",
        seen=r"failed to initialize logging driver|failed to validate logger args|failed to create Cloudwatch log (stream|group)|"
        r"specified log group does not exist",
        means="the container cannot write to its log group: there is none, or the execution role may not",
        remedy="Deploy the cluster again to create its log group; a definition of another tool names one that exists (output "
        "LogGroupName) and an execution role that may write to it",
        source=f"{_ECS}resource-initialization-error.html",
    ),
    Fault(
        name="missing-device",
        seen=r"error gathering device information while adding custom device",
        means="the node lacks a device that the job maps: it is of another type, or its Neuron or EFA driver is not loaded",
        remedy="Run the job on the type that it is defined for, with an AMI that has the drivers (ultracluster docs bake-an-ami)",
        source="https://github.com/aws-neuron/aws-neuron-sdk/issues/482",
    ),
    Fault(
        name="command-not-found",
        seen=r"executable file not found|exec( user process caused)?:? .*no such file or directory|"
        r"(torchrun|No such file or directory).* cannot be started|cannot be started: No such file or directory|"
        r"can't open file '.*No such file or directory|(^|/)(ba|da|a)?sh: .*not found$|line \d+: .*: command not found$",
        means="the image does not contain the program that the job or its launcher starts",
        remedy="Correct the command, use an image that has the program, or start it with another launcher "
        "(ultracluster run --launcher raw)",
        source=_SHELL,
    ),
    Fault(
        name="command-not-executable",
        seen=r"exec( user process caused)?:? .*permission denied",
        means="the program that the job starts may not be executed",
        remedy="Make it executable in the image (chmod +x), or start it with its interpreter, such as python3",
        source="https://github.com/aws/amazon-ecs-agent/issues/1568",
    ),
    Fault(
        name="container-not-started",
        seen=r"CannotStartContainerError|CannotCreateContainerError|CannotInspectContainerError|DockerTimeoutError|"
        r"ContainerRuntimeTimeoutError|CannotCreateVolumeError",
        means="the node could not start the container",
        remedy="Correct what the message names; if it is a timeout, look at the node (ultracluster nodes shell) or replace it",
        source=f"{_ECS}stopped-task-error-codes.html",
    ),
    Fault(
        name="container-out-of-memory",
        seen=r"OutOfMemoryError: Container killed|Container killed due to memory usage",
        means="the container used more memory than its definition allows",
        remedy="Raise the memory of the job, or load less at once: fewer workers of the data loader, smaller shards",
        source=f"{_ECS}out-of-memory.html",
    ),
    Fault(
        name="overrides-too-long",
        seen=r"Container Overrides length must be at most",
        means="variables and command of the submission have more than 8,192 characters, which Amazon ECS refuses when the job starts",
        remedy="Put long values into a file on /fsx or in Amazon S3, and pass its path",
        source="https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html",
    ),
    Fault(
        name="role-not-assumed",
        seen=r"ECS was unable to assume the role",
        means="Amazon ECS may not assume a role of the job",
        remedy="Let ecs-tasks.amazonaws.com assume the role, and the submitter pass it",
        source="https://github.com/nextflow-io/nextflow/pull/2146",
    ),
    Fault(
        name="node-lost",
        seen=r"Host EC2.*terminated|^Host EC2",
        means="the instance under the job was terminated, reclaimed or failed",
        remedy="Submit it again unless it resumes by itself; if it happens to one node again and again: ultracluster docs node-broken",
        source=f"{_BATCH}job_retries.html",
    ),
    Fault(
        name="time-limit",
        seen=r"attempt duration exceeded timeout",
        means="the attempt took longer than the timeout of the job",
        remedy="Submit it with a longer --timeout; its program continues from the last checkpoint",
        source=f"{_BATCH}job_timeouts.html",
    ),
    Fault(
        name="drained",
        seen=r"ultracluster: Capacity Block \S+ ends",
        means="the Capacity Block under the job came to its end",
        remedy="Deploy with the next block, or submit the job to other capacity (--queue); with resume it waits by itself",
        source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-how.html",
    ),
    Fault(
        name="dependency-failed",
        seen=r"[Dd]ependent [Jj]ob failed|[Dd]ependency .*failed",
        means="a job that it waited for failed",
        remedy="Find out why that one failed, and submit both again",
        source=f"{_BATCH}job_dependencies.html",
    ),
    Fault(
        name="wait-limit",
        seen=r"^(CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY|MISCONFIGURATION:(COMPUTE_ENVIRONMENT_MAX_RESOURCE|JOB_RESOURCE_REQUIREMENT))",
        means="the queue ended the job because it waited longer than its wait_limits allow",
        remedy="Remove the cause that the reason names, raise wait_limits, and submit it again",
        source=f"{_BATCH}job_stuck_in_runnable_time_limit_actions.html",
    ),
    # Neuron compiler
    Fault(
        name="operator-unsupported",
        seen=r"support check: unsupported: ",
        means="the Neuron compiler does not support the operator as the model uses it",
        remedy="Replace it, run it on the CPU, or write a kernel for it (NKI); then submit the support check again",
        source=f"{_NEURON}frameworks/torch/torch-neuronx/api-reference-guide/inference/api-torch-neuronx-analyze.html",
    ),
    Fault(
        name="support-unanswered",
        seen=r"support check: refused: ",
        means="the support check could not judge the model",
        remedy="Let the function return the model and its example inputs, in an image with torch-neuronx and PyTorch/XLA",
        source=f"{_NEURON}frameworks/torch/torch-neuronx/api-reference-guide/inference/api-torch-neuronx-analyze.html",
    ),
    Fault(
        name="compiler-out-of-memory",
        seen=r"\[F137\]|neuronx-cc was forcibly killed|neuronx-cc failed with -9",
        means="the memory of the node, not of the device, was too small for the compiler",
        remedy="Compile with fewer workers at once, --optlevel 1, or before the block on a larger node (a precompile job)",
        source="https://github.com/aws-neuron/aws-neuron-sdk/issues/706",
    ),
    Fault(
        name="model-larger-than-device",
        seen=r"NCC_EOOM\d+|exceeds the high-bandwidth memory limit",
        means="weights and activations need more memory than the device has",
        remedy="Reduce batch or sequence length, or raise tensor or pipeline parallelism",
        source=_COMPILER,
    ),
    Fault(
        name="compiler-error",
        seen=r"NCC_[A-Z]{4}\d{3}|neuronx-cc.*(exit (status|code) 70|failed|terminated abnormally)|"
        r"exit (status|code) 70|Compilation failed for|\[F134\]|An Internal Compiler Error has occurred",
        means="the Neuron compiler could not compile the program",
        remedy="Look up the code NCC_… that the log names; without one, try other shapes or --optlevel 1 and report it to Neuron",
        source=_COMPILER,
    ),
    # Neuron runtime
    Fault(
        name="neuron-driver-missing",
        seen=r"Unable to determine Neuron Driver version|Could not open the \w+\d|No neuron device|"
        r"[Ff]ailed to initialize devices|TDRV not initialized",
        means="the runtime finds no Neuron device: not mapped into the container, or the driver is not loaded",
        remedy="Submit with the cluster's definition, which maps the devices, and use an AMI with the driver "
        "(ultracluster docs bake-an-ami)",
        source=_RUNTIME,
    ),
    Fault(
        name="neuron-driver-too-old",
        seen=r"This runtime requires Neuron Driver version",
        means="the driver of the AMI is older than the runtime in the image",
        remedy="Use an AMI and an image of the same Neuron SDK",
        source=_RUNTIME,
    ),
    Fault(
        name="neuron-cores-in-use",
        seen=r"NeuronCore\(s\) not available|NRT_EXEC_NC_BUSY|NRT_LOAD_NOT_ENOUGH_NC|Could not find VNC id",
        means="another process has the NeuronCores, or the program asks for more than the node has",
        remedy="Start one process for each core, and match processes_per_node and NEURON_RT_NUM_CORES to the type",
        source=_RUNTIME,
    ),
    Fault(
        name="compiled-for-another-version",
        seen=r"NEFF version mismatch|NRT_UNSUPPORTED_NEFF_VERSION",
        means="the program was compiled by another version than the runtime supports",
        remedy="Use a compiler and a runtime of one Neuron SDK, and a new folder of the compile cache",
        source=_RUNTIME,
    ),
    Fault(
        name="device-out-of-memory",
        seen=r"[Ff]ailed to alloc(ate)? .*(DEVICE|HBM|usage: tensors)|nrt_tensor_allocate status=4|NRT_RESOURCE\b|device mempool|"
        r"CUDA out of memory",
        means="the memory of the device is full",
        remedy="Reduce batch or sequence length, or raise tensor or pipeline parallelism",
        source="https://github.com/aws-neuron/aws-neuron-sdk/issues/1014",
    ),
    Fault(
        name="device-broken",
        seen=r"NRT_(EXEC_)?HW_ERR|NRT_EXEC_UNIT_UNRECOVERABLE|(?i:uncorrectable (memory|ECC) error)",
        means="a device reported a fault of its hardware",
        remedy="Replace the node (ultracluster docs node-broken), and go on from the last checkpoint",
        source=_STATUS,
    ),
    Fault(
        name="device-timeout",
        seen=r"NRT_TIMEOUT",
        means="an execution on a device took longer than the runtime waits; often another rank hangs or still compiles",
        remedy="Look at the logs of the other nodes (--node N); raise the timeout of neuron in the job if they compile",
        source=_STATUS,
    ),
    Fault(
        name="not-a-number",
        seen=r"NRT_EXEC_COMPLETED_WITH_NUM_ERR|INFER_ERROR_SUBTYPE_NUMERICAL",
        means="the computation produced NaN",
        remedy="Check learning rate, data and casts (ultracluster docs loss-differs)",
        source=_RUNTIME,
    ),
    # Communication
    Fault(
        name="collectives-missing",
        seen=r"Error opening libnccom",
        means="the image lacks aws-neuronx-collectives",
        remedy="Install it in the image, or start from an image of AWS Neuron",
        source=_RUNTIME,
    ),
    Fault(
        name="efa-missing",
        seen=r"OFI plugin initNet\(\) failed|Ofi plugin is not installed or EFA is not enabled|"
        r"NET/OFI.*fi_getinfo\(\) call failed: No data available",  # aws/aws-ofi-nccl#1020
        means="the runtime finds no EFA: no EFA devices in the container, or no EFA libraries in the image",
        remedy="Submit with the cluster's definition, which maps the devices, and install the EFA libraries in the image "
        "(ultracluster docs efa-slow)",
        source=_RUNTIME,
    ),
    Fault(
        name="efa-fallback-to-sockets",
        seen=r"NET/OFI.*([Nn]o eligible providers|[Cc]ould not find any optimal provider|initialization failed)|"
        r"Initialized NET plugin Socket|Using network Socket|NET/Socket ?: ?Using|provider efa output empty list|"
        r"(?i:selected provider is (tcp|sockets))",
        means="nodes talk over TCP sockets instead of EFA, which is many times slower",
        remedy="Remove FI_PROVIDER and NCCL_NET from the environment, map all EFA devices, and check the libraries "
        "(ultracluster docs efa-slow)",
        source="https://github.com/aws-samples/aws-do-eks/pull/54",
    ),
    Fault(
        name="locked-memory-limit",
        seen=r"Unable to register MR: Cannot allocate memory|Libfabric error: \(-12\)|cannot allocate memory for EFA",
        means="EFA could not lock memory: the limit of locked memory (memlock) of the container is too low",
        remedy="Submit with the cluster's definition, which has no limit, or set ulimit memlock to -1",
        source="https://github.com/awslabs/awsome-distributed-ai/issues/647",
    ),
    Fault(
        name="efa-transfer-failed",
        seen=r"Unresponsive receiver|NET/OFI.*(completed with error|Unable to insert remote address)|Unreachable remote",
        means="a transfer over EFA did not arrive: the other node ended, or EFA may not reach it",
        remedy="Look at the log of the other nodes (--node N); if none ended first, let the security group of the nodes allow all traffic "
        "to and from itself, and place them in one subnet",
        source="https://github.com/ofiwg/libfabric/pull/8889",
    ),
    Fault(
        name="wrong-interface",
        seen=r"No interface found in the same subnet|No usable listening interface found|no socket interface found",
        means="the nodes chose a network interface on which they do not reach each other",
        remedy="Remove the names of interfaces from the environment (CCOM_SOCKET_IFNAME, NCCL_SOCKET_IFNAME)",
        source=_RUNTIME,
    ),
    Fault(
        name="other-node-ended",
        seen=r"connection closed by remote peer|remote process exited|NRT_NETWORK_PROXY_FAILURE|NRT_EXEC_HW_ERR_COLLECTIVES",
        means="another rank ended, so that this one could not go on",
        remedy="Look at the log of the node that ended first (--node N)",
        source=_RUNTIME,
    ),
    Fault(
        name="waits-for-other-nodes",
        seen=r"Timeout waiting for (RX|incoming connection)|Connect to \S+ failed - retrying|Watchdog caught collective operation timeout",
        means="ranks wait for others, which often still compile",
        remedy="If no log shows a compilation, one of them hangs: stop the job and submit it again",
        source=_RUNTIME,
    ),
    Fault(
        name="rendezvous-failed",
        seen=r"RendezvousTimeoutError|RendezvousConnectionError|DistStoreError|DistNetworkError|"
        r"[Tt]imed out .*(TCPStore|waiting for clients)",
        means="the nodes did not find each other in time",
        remedy="Remove MASTER_ADDR, RANK and WORLD_SIZE from the environment: the launcher sets them; then look at the log of each node",
        source="https://docs.pytorch.org/docs/stable/elastic/rendezvous.html",
    ),
    Fault(
        name="port-in-use",
        seen=r"EADDRINUSE|(?i:address already in use)",
        means="another process of the node listens on the port",
        remedy="Set another MASTER_PORT, or start the program once on each node",
        source=_ERRNO,
    ),
    # Storage and memory
    Fault(
        name="shared-memory-full",
        seen=r"out of shared memory|insufficient shared memory|unable to (open|allocate) shared memory|"
        r"/dev/shm.*[Nn]o space left|[Nn]o space left.*/dev/shm",
        means="the shared memory of the container (/dev/shm) is full",
        remedy="Use fewer workers of the data loader, or raise the shared memory of the job",
        source="https://github.com/pytorch/pytorch/issues/5040",
    ),
    Fault(
        name="file-system-full",
        seen=r"No space left on device|\[Errno 28\]|ENOSPC",
        means="a disk is full. FSx for Lustre refuses a file as soon as one of its targets is full, although others have space",
        remedy="Compare the targets on a node (ultracluster nodes shell; lfs df -h), delete or move files (lfs migrate), or raise "
        "storage_capacity_gib",
        source=_LUSTRE,
    ),
    Fault(
        name="quota-exceeded",
        seen=r"Disk quota exceeded|\[Errno 122\]|EDQUOT",
        means="the storage quota of the user, group or project is used up",
        remedy="Delete files, or raise the quota on a node: lfs setquota",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-quotas.html",
    ),
    Fault(
        name="file-system-disconnected",
        seen=r"transport endpoint (shutdown|is not connected)|Stale file handle|\[Errno (107|108|116)\]",
        means="the node lost its connection to the file system",
        remedy="Check the state of the file system and its security group; replace the node if others are connected",
        source=_ERRNO,
    ),
    Fault(
        name="too-many-open-files",
        seen=r"Too many open files|\[Errno 24\]",
        means="a process opened more files than its limit (nofile) allows",
        remedy="Close files in the program, use fewer workers of the data loader, or raise ulimit nofile",
        source=_ERRNO,
    ),
    Fault(
        name="host-out-of-memory",
        seen=r"[Cc]annot allocate memory|can't allocate memory|std::bad_alloc|\bMemoryError\b|\[Errno 12\]|"
        r"NRT_FAIL_HOST_MEM_ALLOC|killed by signal: Killed|oom-kill",
        means="the memory of the node or the container is used up",
        remedy="Load less at once: fewer workers of the data loader, smaller shards; or raise the memory of the job",
        source=_ERRNO,
    ),
    Fault(
        name="file-not-permitted",
        seen=r"\[Errno (1|13|30)\]|EACCES|EROFS",
        means="the user of the container may not read or write a file",
        remedy="Change the owner or the mode of the folder on a node (ultracluster nodes shell), run the container as another user, or "
        "write below /fsx",
        source=_ERRNO,
    ),
    # Programs
    Fault(
        name="code-not-downloaded",
        seen=r"Failed to download code package",
        means="the job could not read the code that Metaflow had stored for it",
        remedy="Allow the job role to read the bucket of Metaflow's data store, and give the VPC an endpoint for it or a route to it "
        "(ultracluster docs submit-with-other-tools)",
        source="https://github.com/Netflix/metaflow/blob/master/metaflow/metaflow_environment.py",
    ),
    Fault(
        name="no-gpu",
        seen=r"Found no NVIDIA driver on your system|No CUDA GPUs are available|could not select device driver .*gpu",
        means="the program wants an NVIDIA GPU, and finds none",
        remedy="On Trainium nodes, use an image and a program for AWS Neuron; on GPU nodes, an AMI with the driver and the resource GPU in the "
        "definition of the job",
        source="https://github.com/pytorch/pytorch/blob/main/c10/cuda/CUDAFunctions.cpp",
    ),
    Fault(
        name="no-credentials",
        seen=r"NoCredentialsError|Unable to locate credentials",
        means="the job has no role, so that it may ask nothing of AWS",
        remedy="Add permissions to the job, which give it a role, deploy and submit it again; a definition of another tool needs "
        "jobRoleArn",
        source="https://docs.aws.amazon.com/boto3/latest/guide/credentials.html",
    ),
    Fault(
        name="host-not-reached",
        seen=r"EndpointConnectionError|ConnectTimeoutError|ConnectionError: .*Max retries exceeded|[Cc]ould not resolve host|"
        r"Temporary failure in name resolution|Name or service not known|Could not connect to the endpoint URL",
        means="the node does not reach a host that the program asked for",
        remedy="Give the VPC an endpoint for a service of AWS, or a way to the internet (ultracluster docs reach-the-internet); or copy data "
        "and models before, and set HF_HUB_OFFLINE=1",
        source="https://man7.org/linux/man-pages/man3/getaddrinfo.3.html",
    ),
    Fault(
        name="access-denied",
        seen=r"\(AccessDenied(Exception)?\)|AccessDenied(Exception)?:|is not authorized to perform|\(403\) when calling",
        means="the role of the job may not do what the program asked AWS for",
        remedy="Add the action and the resource to permissions of the job, deploy and submit it again; with a definition of another "
        "tool, allow it to the role that its jobRoleArn names",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html",
    ),
    Fault(
        name="module-missing",
        seen=r"ModuleNotFoundError|ImportError|cannot open shared object file",
        means="the image lacks a package or a library that the program needs, or has another version of it",
        remedy="Install it in the image, or put it into the folder of ultracluster run",
        source="https://docs.python.org/3/library/exceptions.html#ModuleNotFoundError",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExitCode:
    """Exit code of a container with a meaning."""

    code: int
    means: str
    remedy: str
    source: str


EXIT_CODES: Final = (
    ExitCode(
        code=1,
        means="the program failed",
        remedy="The last lines of the log say why",
        source=_SHELL,
    ),
    ExitCode(
        code=2,
        means="usually the program was called with arguments that it does not take",
        remedy="Correct the words after -- or the command of the job",
        source="https://docs.python.org/3/library/argparse.html#exiting-methods",
    ),
    ExitCode(
        code=70,
        means="usually the Neuron compiler failed",
        remedy="Look up the code NCC_… in the log; try other shapes or --optlevel 1",
        source="https://github.com/aws-neuron/aws-neuron-samples/issues/94",
    ),
    ExitCode(
        code=LOST_NODE,
        means="the launcher lost another node of the job",
        remedy="Look at the node that was lost; the job resumes if it has resumes or attempts left",
        source=_LAUNCHER,
    ),
    ExitCode(
        code=124,
        means="the command timeout ended the program",
        remedy="Give it more time, or look at the log for what it waited for",
        source="https://www.gnu.org/software/coreutils/manual/html_node/timeout-invocation.html",
    ),
    ExitCode(
        code=126,
        means="the command is no program, or may not be executed",
        remedy="Make it executable, or start it with python3",
        source=_SHELL,
    ),
    ExitCode(
        code=127,
        means="the image has no such command",
        remedy="Correct the command, or use an image that has it",
        source=_SHELL,
    ),
    ExitCode(
        code=134,
        means="aborted (SIGABRT), usually by an assertion of a library or the Neuron runtime",
        remedy="The last lines of the log name the assertion",
        source=_SIGNALS,
    ),
    ExitCode(
        code=135,
        means="bus error (SIGBUS), usually because /dev/shm is full",
        remedy="Use fewer workers of the data loader, or raise the shared memory of the job",
        source=_SIGNALS,
    ),
    ExitCode(
        code=137,
        means="killed (SIGKILL), usually because memory ran out; also at a time limit or when the job was stopped",
        remedy="Raise the memory of the job, or load less at once: fewer workers of the data loader, smaller shards",
        source=f"{_ECS}stopped-task-error-codes.html",
    ),
    ExitCode(
        code=139,
        means="segmentation fault (SIGSEGV) in a library",
        remedy="Use libraries of one Neuron SDK and an AMI with the same; set PYTHONFAULTHANDLER=1 to see where",
        source=_SIGNALS,
    ),
    ExitCode(
        code=143,
        means="terminated (SIGTERM): the job was stopped, drained, or lost another node",
        remedy="Submit it again unless it resumes by itself",
        source=_SIGNALS,
    ),
    ExitCode(
        code=202,
        means="Metaflow ended the step and wants no other attempt",
        remedy="The last lines of the log say why; then resume the flow",
        source="https://github.com/Netflix/metaflow/blob/master/metaflow/exception.py",
    ),
    ExitCode(
        code=252,
        means="the AWS CLI was called with words that it does not know",
        remedy="Correct the command of the job",
        source=_AWS_CLI,
    ),
    ExitCode(
        code=253,
        means="the AWS CLI found no credentials or no Region",
        remedy="Give the job a role (permissions, or jobRoleArn of its own definition), and set AWS_REGION",
        source=_AWS_CLI,
    ),
    ExitCode(
        code=254,
        means="AWS refused a request of the AWS CLI",
        remedy="The last lines of the log name the request and why it was refused",
        source=_AWS_CLI,
    ),
    ExitCode(
        code=255,
        means="the program ended with -1 or 255, or the AWS CLI failed",
        remedy="The last lines of the log say why",
        source=_AWS_CLI,
    ),
)


def find_faults(lines: Iterable[str]) -> list[tuple[Fault, str]]:
    """Return the faults that lines show, each once with the first line that shows it, in the order of the lines."""
    found: dict[str, tuple[Fault, str]] = {}
    for line in lines:
        fault = next((fault for fault in FAULTS if re.search(fault.seen, line)), None)
        if fault is not None:
            found.setdefault(fault.name, (fault, line))
    return list(found.values())


def exit_code(code: int) -> ExitCode | None:
    """Return the meaning of an exit code, or None if it has none that is known."""
    known = next((known for known in EXIT_CODES if known.code == code), None)
    name = next((each.name for each in Signals if each == code - 128), "")
    if known or not name:
        return known
    return ExitCode(
        code=code,
        means=f"ended by the signal {name}",
        remedy="The last lines of the log may say why",
        source=_SIGNALS,
    )
