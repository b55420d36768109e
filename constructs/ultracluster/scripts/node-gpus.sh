# Part of node-boot.sh on types with GPUs, before its end.
wait_for GPU "$UC_GPUS" "${UC_ROOT}/dev/nvidia[0-9]*"
