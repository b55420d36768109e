exec torchrun \
  --nnodes "$AWS_BATCH_JOB_NUM_NODES" \
  --node-rank "$AWS_BATCH_JOB_NODE_INDEX" \
  --nproc-per-node "$UC_PROCESSES_PER_NODE" \
  --master-addr "$MASTER_ADDR" \
  --master-port "$MASTER_PORT" \
  "$@"
