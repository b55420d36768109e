# Starts one node's share of a multi-node parallel job; the container's command follows as arguments.
# AWS Batch gives the main node's address to the other nodes only, so the main node asks itself.
set -euo pipefail

: "${AWS_BATCH_JOB_NUM_NODES:=1}" "${AWS_BATCH_JOB_NODE_INDEX:=0}" "${AWS_BATCH_JOB_MAIN_NODE_INDEX:=0}"

own_address() {
  # Connecting a datagram socket sends nothing; the kernel only picks the interface of the route.
  python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.255.255.255", 9))
print(s.getsockname()[0])'
}

if [ "$AWS_BATCH_JOB_NODE_INDEX" = "$AWS_BATCH_JOB_MAIN_NODE_INDEX" ]; then
  MASTER_ADDR=$(own_address)
else
  MASTER_ADDR=${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:?AWS Batch gave no address of the main node}
fi
export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-41000}"

# The collectives' bootstrap must use the task's own interface, the one with the default route.
if [ -z "${CCOM_SOCKET_IFNAME:-}" ] && [ -r /proc/net/route ]; then
  CCOM_SOCKET_IFNAME=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
  export CCOM_SOCKET_IFNAME
fi

echo "ultracluster: node $AWS_BATCH_JOB_NODE_INDEX of $AWS_BATCH_JOB_NUM_NODES, main node $MASTER_ADDR:$MASTER_PORT" >&2
exec torchrun \
  --nnodes "$AWS_BATCH_JOB_NUM_NODES" \
  --node-rank "$AWS_BATCH_JOB_NODE_INDEX" \
  --nproc-per-node "$UC_PROCESSES_PER_NODE" \
  --master-addr "$MASTER_ADDR" \
  --master-port "$MASTER_PORT" \
  "$@"
