# Part of node-boot.sh on nodes that were asked for scratch, before its end. Instance-store disks come empty with every
# start of a node and go with it; one xfs file system lies over all of them.
scratch_disks() {
  local link disk found=()
  for link in "${UC_ROOT}"/dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_*; do
    [ -e "$link" ] || continue
    disk=$(readlink -f "$link")
    # udev makes two links of each disk, one with its namespace.
    case " ${found[*]:-} " in *" $disk "*) ;; *) found+=("$disk") ;; esac
  done
  [ "${#found[@]}" -eq 0 ] || printf '%s\n' "${found[@]}"
}

mount_scratch() {
  local waited=0 disks volume target="${UC_ROOT}${UC_SCRATCH_PATH}"
  while :; do
    mapfile -t disks < <(scratch_disks)
    [ "${#disks[@]}" -ge "$UC_SCRATCH_DISKS" ] && break
    [ "$waited" -ge "$UC_DEVICE_WAIT_SECONDS" ] && refuse "${#disks[@]} of $UC_SCRATCH_DISKS instance-store disks"
    sleep 2
    waited=$((waited + 2))
  done
  volume=${disks[0]}
  if [ "${#disks[@]}" -gt 1 ]; then
    command -v mdadm >/dev/null || refuse "the image has no mdadm, which joins instance-store disks"
    volume=/dev/md/scratch
    mdadm --create "$volume" --run --level=0 --name=scratch --raid-devices="${#disks[@]}" "${disks[@]}" ||
      refuse "the instance-store disks could not be joined; an image that uses them itself gives none for scratch"
  fi
  # Without -f on a single disk: one that holds a file system is in somebody's use.
  mkfs.xfs -L scratch "$volume" || refuse "no file system could be made on $volume"
  mkdir -p "$target"
  echo "LABEL=scratch ${UC_SCRATCH_PATH} xfs noatime,nofail 0 0" >>"${UC_ROOT}/etc/fstab"
  mount -t xfs -o noatime "$volume" "$target" || refuse "scratch was not mounted"
  chmod 1777 "$target"
  say "scratch of ${#disks[@]} disks mounted at ${UC_SCRATCH_PATH}"
}

mount_scratch
