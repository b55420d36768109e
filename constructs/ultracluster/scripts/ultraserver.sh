# Part of a multi-node job on nodes of UltraServers, between launch.sh and what starts the program: tells the Neuron runtime
# the node's place in its UltraServer, as the driver knows it. A job has one node, two, or whole UltraServers of four.
: "${UC_NEURON_CLASS:=/sys/class/neuron_device}"

ultraserver_place() {
  local group=1 wanted mode modes
  if [ $((AWS_BATCH_JOB_NUM_NODES % 4)) -eq 0 ]; then
    group=4
  elif [ "$AWS_BATCH_JOB_NUM_NODES" -ne 1 ]; then
    group=$AWS_BATCH_JOB_NUM_NODES
  fi
  # Modes of the runtime: 1 is all four nodes, 2 two in a row, 3 two in a column, 4 one alone.
  case $group in
  4) wanted="1" ;;
  2) wanted="3 2" ;;
  1) wanted="4" ;;
  *)
    echo "ultracluster: $AWS_BATCH_JOB_NUM_NODES nodes are neither one, two nor whole UltraServers of four" >&2
    exit 1
    ;;
  esac
  NEURON_RT_ULTRASERVER_SERVER_ID=0000000000000000
  NEURON_RT_ULTRASERVER_NODE_ID=-1
  NEURON_RT_ULTRASERVER_MODE=4
  if [ "$group" -gt 1 ]; then
    NEURON_RT_ULTRASERVER_MODE=""
    modes=" $(tr -c '0-9' ' ' <"$UC_NEURON_CLASS/ultraserver_mode" || true) "
    for mode in $wanted; do
      case $modes in *" $mode "*)
        NEURON_RT_ULTRASERVER_MODE=$mode
        break
        ;;
      esac
    done
    if [ -z "$NEURON_RT_ULTRASERVER_MODE" ] ||
      ! read -r NEURON_RT_ULTRASERVER_SERVER_ID <"$UC_NEURON_CLASS/server_id_$group" ||
      ! read -r NEURON_RT_ULTRASERVER_NODE_ID <"$UC_NEURON_CLASS/node_id_$group"; then
      echo "ultracluster: this node is not joined with $((group - 1)) others as an UltraServer" >&2
      exit 1
    fi
  fi
  export NEURON_RT_ULTRASERVER_MODE NEURON_RT_ULTRASERVER_SERVER_ID NEURON_RT_ULTRASERVER_NODE_ID
  echo "ultracluster: UltraServer $NEURON_RT_ULTRASERVER_SERVER_ID, node $NEURON_RT_ULTRASERVER_NODE_ID," \
    "mode $NEURON_RT_ULTRASERVER_MODE" >&2
}

ultraserver_place
