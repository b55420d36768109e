# Before node-boot.sh on nodes that publish metrics, so that a node which refuses to join still reports what it lacks.
# A node without its metrics is a node all the same: nothing here stops it.
start_metrics() {
  local place="${UC_ROOT:-}/usr/local/lib/ultracluster" units="${UC_ROOT:-}/etc/systemd/system"
  mkdir -p "$place" || return
  cat >"$place/node_metrics.py" <<'UC_SOURCE' || return
UC_SOURCE
  env | grep '^UC_' >"$place/environment"
  cat >"$units/ultracluster-metrics.service" <<UC_UNIT || return
[Unit]
Description=Metrics of this node
[Service]
EnvironmentFile=$place/environment
ExecStart=/usr/bin/python3 $place/node_metrics.py
Restart=always
RestartSec=30
[Install]
WantedBy=multi-user.target
UC_UNIT
  systemctl daemon-reload && systemctl enable --now --no-block ultracluster-metrics.service
}
start_metrics || echo "ultracluster: the metrics of this node were not started"
