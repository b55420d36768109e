# Runs once as root when a node boots, after the settings UC_* that the launch template puts in front of it.
# It sets limits, counts devices and mounts the file system. When anything is missing, the ECS agent is
# masked, so that the node never takes part of a job: one node without EFA slows or hangs all the others. It says why on its
# console and shuts down, which terminates it, so that its reservation provides another node.
# Nothing is downloaded. UC_ROOT is for tests.
set -uo pipefail

: "${UC_ROOT:=}" "${UC_DEVICE_WAIT_SECONDS:=120}" "${UC_MOUNT_ATTEMPTS:=20}" "${UC_MOUNT_RETRY_SECONDS:=15}"

say() {
  echo "ultracluster: $*" | tee -a "${UC_ROOT}/var/log/ultracluster-boot.log"
  logger --tag ultracluster -- "$*" || true
}

refuse() {
  say "refused to join the cluster: $*"
  systemctl mask --now ecs.service
  # EC2 shows the console for an hour after the end of a node, also of one whose network does not work.
  echo "ultracluster: refused to join the cluster: $*" >"${UC_ROOT}/dev/console"
  # A minute later, so that metrics and logs can leave the node.
  shutdown --poweroff +1 || systemctl poweroff
  exit 1
}

count() {
  local found=0 path
  for path in "$@"; do
    [ -e "$path" ] && found=$((found + 1))
  done
  echo "$found"
}

# wait_for NAME EXPECTED GLOB: drivers create their devices some seconds after boot.
wait_for() {
  local name=$1 expected=$2 pattern=$3 found waited=0
  while :; do
    # The pattern is expanded on purpose.
    # shellcheck disable=SC2086
    found=$(count $pattern)
    [ "$found" -ge "$expected" ] && break
    [ "$waited" -ge "$UC_DEVICE_WAIT_SECONDS" ] && refuse "$found of $expected $name devices"
    sleep 2
    waited=$((waited + 2))
  done
  say "$found of $expected $name devices"
}

set_limits() {
  # EFA registers memory with the network card, and 64 workers open many files and sockets.
  printf '* soft memlock unlimited\n* hard memlock unlimited\n* soft nofile 1048576\n* hard nofile 1048576\n' \
    >"${UC_ROOT}/etc/security/limits.d/90-ultracluster.conf" || refuse "limits cannot be written"
}

set_agent() {
  local units="${UC_ROOT}/etc/systemd/system/ecs.service.d"
  # Tasks must not read the metadata of the node, which the hop limit does not hide from their own network interface. Images
  # stay for a week: AWS Batch removes unused ones after 10 minutes, and tens of GB would be pulled again after each gap.
  # In front of the agent, whose start waits for user data, so that these lines are behind those of AWS Batch: the last holds.
  mkdir -p "$units" "${UC_ROOT}/etc/ecs" &&
    printf 'ECS_AWSVPC_BLOCK_IMDS=true\nECS_IMAGE_MINIMUM_CLEANUP_AGE=168h\n' >"${UC_ROOT}/etc/ecs/ultracluster.config" &&
    printf "[Service]\nExecStartPre=/bin/sh -c 'cat /etc/ecs/ultracluster.config >>/etc/ecs/ecs.config'\n" \
      >"$units/ultracluster.conf" && systemctl daemon-reload || refuse "settings of the ECS agent cannot be written"
}

mount_file_system() {
  local attempt=1 target="${UC_ROOT}${UC_MOUNT_PATH}"
  command -v mount.lustre >/dev/null || refuse "the image has no Lustre client (mount.lustre)"
  mkdir -p "$target"
  echo "${UC_FILE_SYSTEM_DNS}@tcp:/${UC_FILE_SYSTEM_MOUNT} ${UC_MOUNT_PATH} lustre relatime,flock,_netdev,nofail 0 0" \
    >>"${UC_ROOT}/etc/fstab"
  until mount -t lustre -o relatime,flock "${UC_FILE_SYSTEM_DNS}@tcp:/${UC_FILE_SYSTEM_MOUNT}" "$target"; do
    [ "$attempt" -ge "$UC_MOUNT_ATTEMPTS" ] && refuse "file system ${UC_FILE_SYSTEM_DNS} was not mounted"
    attempt=$((attempt + 1))
    sleep "$UC_MOUNT_RETRY_SECONDS"
  done
  say "file system mounted at ${UC_MOUNT_PATH}"
}

# Where the node is told that its Capacity Block ends soon; containers see it read-only.
mkdir -p "${UC_ROOT}/run/ultracluster"
set_limits
set_agent
modprobe --all --quiet efa ib_uverbs || true # built in, or loaded already; the count below decides
wait_for Neuron "$UC_NEURON_DEVICES" "${UC_ROOT}/dev/neuron[0-9]*"
wait_for EFA "$UC_EFA_DEVICES" "${UC_ROOT}/dev/infiniband/uverbs[0-9]*"
[ -n "${UC_FILE_SYSTEM_DNS:-}" ] && mount_file_system
say "ready"
exit 0
