# Prepares one node's share of a multi-node parallel job. start-LAUNCHER.sh follows in the same script, and starts what the
# container's command names. AWS Batch gives the main node's address to the other nodes only, so the main node asks itself.
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

# handlers_from PID: itself and the processes below it that handle SIGUSR1, which kills every other process. Below a process
# that does, what it has started (data loaders, compilers) only inherited the handler, and is left alone.
handlers_from() {
  local root=$1 status pid key value ancestor
  local -A parents=() handles=()
  for status in /proc/[0-9]*/status; do
    pid=${status//[!0-9]/}
    while read -r key value; do
      case $key in
      PPid:) parents[$pid]=$value ;;
      SigCgt:) if ((16#$value & 0x200)); then handles[$pid]=yes; fi ;;
      esac
    done 2>/dev/null <"$status"
  done
  for pid in "${!handles[@]}"; do
    ancestor=${parents[$pid]:-0}
    while [ "$ancestor" -gt 1 ] && [ "$ancestor" != "$root" ] && [ -z "${handles[$ancestor]:-}" ]; do
      ancestor=${parents[$ancestor]:-0}
    done
    if [ "$pid" = "$root" ] || { [ "$ancestor" = "$root" ] && [ -z "${handles[$root]:-}" ]; }; then echo "$pid"; fi
  done
}

# Before a Capacity Block ends, the node's file says until when checkpoints must be written. Each process is told once
# for each such time. An order whose time is over was for another end, before an extension.
: "${UC_CHECKPOINT_FILE:=/run/ultracluster/checkpoint}" "${UC_CHECKPOINT_POLL_SECONDS:=5}"
watch_for_checkpoint() {
  local program=$1 order pid count said=""
  local -A told=()
  set +e
  while kill -0 "$program" 2>/dev/null; do
    order=""
    [ -r "$UC_CHECKPOINT_FILE" ] && read -r order <"$UC_CHECKPOINT_FILE"
    if [[ "$order" > "$(date -u +%Y-%m-%dT%H:%M:%SZ)" ]]; then
      count=0
      for pid in $(handlers_from "$program"); do
        if [ -z "${told[$order/$pid]:-}" ] && kill -USR1 "$pid" 2>/dev/null; then
          told[$order/$pid]=yes
          count=$((count + 1))
        fi
      done
      if [ "$count" -gt 0 ] || [ "$said" != "$order" ]; then
        echo "ultracluster: sent SIGUSR1 to $count processes that handle it: the node ends after $order" >&2
        said=$order
      fi
    fi
    sleep "$UC_CHECKPOINT_POLL_SECONDS"
  done
}

# Beside the program, not above it: signals and the exit status stay its own.
if [ -d "${UC_CHECKPOINT_FILE%/*}" ]; then
  watch_for_checkpoint "$$" >/dev/null </dev/null &
fi

echo "ultracluster: node $AWS_BATCH_JOB_NODE_INDEX of $AWS_BATCH_JOB_NUM_NODES, main node $MASTER_ADDR:$MASTER_PORT" >&2
