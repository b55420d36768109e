# Runs as root on the instance that EC2 Image Builder makes an AMI from, after the settings UC_* that the component
# puts in front of it. UC_MODE=bake installs what the parent lacks and pulls images; UC_MODE=check looks at what is
# there, on the build instance and again on one that was started from the new AMI. UC_ROOT is for tests.
set -euo pipefail

: "${UC_ROOT:=}" "${UC_PARTS:=}" "${UC_IMAGES:=}" "${UC_EFA_VERSION:=}" "${UC_EFA_SHA256:=}"

say() { echo "ultracluster: $*"; }

fail() {
  say "refused: $*" >&2
  exit 1
}

installs() { case " $UC_PARTS " in *" $1 "*) true ;; *) false ;; esac }

check_system() {
  # shellcheck source=/dev/null
  . "${UC_ROOT}/etc/os-release"
  [ "${ID:-}" = amzn ] && [ "${VERSION_ID%%.*}" = 2023 ] || fail "the parent is ${PRETTY_NAME:-unknown}, not Amazon Linux 2023"
}

install_efa() {
  local archive="aws-efa-installer-${UC_EFA_VERSION}.tar.gz" folder
  folder=$(mktemp -d)
  curl --fail --silent --show-error --retry 3 --output "$folder/$archive" "https://efa-installer.amazonaws.com/$archive"
  echo "${UC_EFA_SHA256}  $folder/$archive" | sha256sum --check --strict --status || fail "$archive has another checksum"
  # The driver is built for the kernel that runs, which is the one that the Neuron driver was built for.
  dnf install --assumeyes "kernel-devel-$(uname -r)"
  tar --extract --file "$folder/$archive" --directory "$folder"
  # Kernel module and rdma-core; libfabric and all above it belong into the containers.
  (cd "$folder/aws-efa-installer" && ./efa_installer.sh --yes --minimal)
  rm -rf "$folder"
}

install_packages() {
  local packages=()
  installs lustre-client && packages+=(lustre-client)
  installs docker && packages+=(docker)
  installs ecs-agent && packages+=(ecs-init)
  installs cloudwatch-agent && packages+=(amazon-cloudwatch-agent)
  [ -n "$UC_IMAGES" ] && packages+=(amazon-ecr-credential-helper)
  [ "${#packages[@]}" -eq 0 ] || dnf install --assumeyes "${packages[@]}"
}

pull_images() {
  local image
  systemctl start docker
  DOCKER_CONFIG=$(mktemp -d)
  export DOCKER_CONFIG
  echo '{"credsStore": "ecr-login"}' >"$DOCKER_CONFIG/config.json"
  for image in $UC_IMAGES; do
    docker pull --quiet "$image"
  done
  rm -rf "$DOCKER_CONFIG"
  unset DOCKER_CONFIG
}

forget_this_instance() {
  # An agent that finds the state of another instance does not register.
  systemctl stop ecs || true
  rm -rf "${UC_ROOT}/var/lib/ecs/data" "${UC_ROOT}/var/log/ecs"
}

bake() {
  check_system
  install_packages
  if installs efa-driver; then install_efa; fi
  systemctl enable docker ecs
  if [ -n "$UC_IMAGES" ]; then pull_images; fi
  forget_this_instance
  say "baked"
}

has_module() { modinfo "$1" >/dev/null 2>&1 || fail "there is no kernel module $1 for $(uname -r)"; }

check() {
  local unit image
  check_system
  has_module neuron
  has_module efa
  has_module ib_uverbs
  has_module lustre
  command -v mount.lustre >/dev/null || fail "there is no mount.lustre"
  for unit in docker ecs; do
    systemctl is-enabled --quiet "$unit" || fail "$unit does not start at boot"
  done
  if installs efa-driver; then
    grep --quiet --fixed-strings "EFA installer version: $UC_EFA_VERSION" "${UC_ROOT}/opt/amazon/efa_installed_packages" ||
      fail "EFA is not of installer $UC_EFA_VERSION"
  fi
  if installs cloudwatch-agent; then
    [ -x "${UC_ROOT}/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl" ] || fail "there is no CloudWatch agent"
  fi
  for image in $UC_IMAGES; do
    docker image inspect "$image" >/dev/null 2>&1 || fail "the image $image is not there"
  done
  say "complete"
}

case "${UC_MODE:-}" in
  bake) bake ;;
  check) check ;;
  *) fail "UC_MODE is neither bake nor check" ;;
esac
