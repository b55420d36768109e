# Part of node-boot.sh, before its end: puts the launcher of jobs into the folder that every job mounts. That folder is in
# memory, so it is filled again at each boot.
put_launcher() {
  local place="${UC_ROOT}/usr/local/lib/ultracluster"
  mkdir -p "$place" "${UC_ROOT}/etc/tmpfiles.d" || return
  cat >"$place/launch" <<'UC_SOURCE' || return
UC_SOURCE
  printf 'd /run/ultracluster 0755\nC+ /run/ultracluster/launch 0644 - - - /usr/local/lib/ultracluster/launch\n' \
    >"${UC_ROOT}/etc/tmpfiles.d/ultracluster.conf" || return
  cp "$place/launch" "${UC_ROOT}/run/ultracluster/launch"
}
put_launcher || refuse "the launcher of jobs cannot be written"
