# One process drives all devices of its node. JAX reads the address of its coordinator by itself; number and index of the
# processes are for the program's jax.distributed.initialize(). The Neuron runtime meets at a port of its own.
export JAX_COORDINATOR_ADDRESS="$MASTER_ADDR:${JAX_COORDINATOR_PORT:-$((MASTER_PORT + 1))}"
export JAX_NUM_PROCESSES="$AWS_BATCH_JOB_NUM_NODES" JAX_PROCESS_ID="$AWS_BATCH_JOB_NODE_INDEX"
export NEURON_RT_ROOT_COMM_ID="$MASTER_ADDR:$MASTER_PORT" NEURON_PJRT_PROCESS_INDEX="$AWS_BATCH_JOB_NODE_INDEX"
NEURON_PJRT_PROCESSES_NUM_DEVICES=$(printf "%.0s,$UC_DEVICES_PER_NODE" $(seq "$AWS_BATCH_JOB_NUM_NODES"))
export NEURON_PJRT_PROCESSES_NUM_DEVICES="${NEURON_PJRT_PROCESSES_NUM_DEVICES#,}"
: "${1:?there is no command to start}"
exec "$@"
