# Part of node-boot.sh on nodes that an Auto Scaling group starts, before its end: AWS Batch names the cluster only to nodes that
# it starts itself (AWS Batch User Guide, unmanaged_compute_environments, read 2026-11).
printf 'ECS_CLUSTER=%s\n' "$UC_ECS_CLUSTER" >>"${UC_ROOT}/etc/ecs/ultracluster.config" || refuse "the ECS cluster cannot be written"
