# The program starts its own processes, and knows from these where it is and where to meet.
export NNODES="$AWS_BATCH_JOB_NUM_NODES" NODE_RANK="$AWS_BATCH_JOB_NODE_INDEX"
export NEURON_RT_ROOT_COMM_ID="$MASTER_ADDR:$MASTER_PORT"
: "${1:?there is no command to start}"
exec "$@"
