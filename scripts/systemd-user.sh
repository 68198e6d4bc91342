#!/usr/bin/env bash
# Runs a command beside a real `systemd --user` of its own, in namespaces that end with the command: systemd-user.sh COMMAND...
# HOME is the home of that user manager. Exit code 77: impossible here, and standard error says why.
set -euo pipefail

cannot() {
  echo "systemd --user cannot run here: $1" >&2
  exit 77
}

if [ "${1-}" != --inside ]; then
  [ "$(id -u)" = 0 ] || cannot 'only root can make its namespaces'
  [ -x /lib/systemd/systemd ] || cannot 'systemd is not installed'
  parent=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
  [ -n "$parent" ] || cannot 'cgroup v2 is not mounted'
  group=$parent/berth-test-$$
  mkdir "$group" 2>/dev/null || cannot "$parent cannot be written"
  trap 'find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true' EXIT
  unshare --mount --cgroup --pid --fork true 2>/dev/null || cannot 'namespaces cannot be made'
  status=0
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    exec unshare --mount --cgroup --pid --fork --kill-child --mount-proc "$0" --inside "$@"
  ) || status=$?
  exit "$status"
fi
shift

# systemd --user wants a booted systemd (/run/systemd/system) and cgroup v2 alone.
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/user
export XDG_RUNTIME_DIR=/run/user/0
mkdir -m 700 "$XDG_RUNTIME_DIR"
mount -t cgroup2 cgroup2 /sys/fs/cgroup
unset DBUS_SESSION_BUS_ADDRESS XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME NOTIFY_SOCKET LISTEN_PID LISTEN_FDS LISTEN_FDNAMES
cd /
/lib/systemd/systemd --user --log-target=console >"$HOME/systemd.log" 2>&1 &
for _ in $(seq 200); do
  if systemctl --user show --property=Version >/dev/null 2>&1; then
    status=0
    "$@" || status=$?
    exit "$status"
  fi
  kill -0 $! 2>/dev/null || break
  sleep 0.05
done
cat "$HOME/systemd.log" >&2
cannot 'it did not start'
