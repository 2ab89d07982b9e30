#!/usr/bin/env bash
# A real S3 server on loopback: one Ceph monitor, one manager, one in-memory OSD and one RADOS Gateway.
#
#   s3-server.sh install      installs the Debian packages, as root
#   s3-server.sh start DIR    starts the server under DIR and prints the variables to export
#   s3-server.sh stop DIR     stops the server under DIR and returns when it is gone
#
# RGW_PORT and MON_PORT set the ports; by default it takes free ones. MEMSTORE_BYTES limits its memory for objects.
set -euo pipefail

install() {
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    ceph-mon ceph-mgr ceph-osd radosgw ceph-common uuid-runtime >/dev/null
}

start() {
  local dir port mon_port try
  dir=$(mkdir -p "$1" && cd "$1" && pwd)
  if [[ -n $(processes "$dir") ]]; then
    echo "a server is already running under $dir: stop it first" >&2
    return 1
  fi
  # Another process may take a free port before the server does. Then the server gets other ports.
  for try in 1 2 3; do
    port=${RGW_PORT:-$(free_port)} mon_port=${MON_PORT:-$(free_port)}
    if "$BASH" "$0" launch "$dir" "$port" "$mon_port" >"$dir/start.log" 2>&1 </dev/null; then
      echo "export S3_ENDPOINT=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=testsecret AWS_REGION=us-east-1"
      return 0
    fi
    stop "$dir"
    echo "start $try of 3 failed:" >&2
    tail -n 20 "$dir/start.log" >&2
  done
  return 1
}

# Runs as a process of its own, because bash would not stop at a failing line of a function called inside a condition.
launch() {
  local dir=$1 port=$2 mon_port=$3
  rm -rf "${dir:?}"/{mon,mgr,osd,run,rgw}
  mkdir -p "$dir"/{mon/a,mgr/x,osd/0,run,rgw}
  local fsid osd tries
  fsid=$(uuidgen) osd=$(uuidgen)
  cat >"$dir/ceph.conf" <<CONF
[global]
fsid = $fsid
mon host = [v1:127.0.0.1:$mon_port]
mon initial members = a
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
public addr = 127.0.0.1
cluster addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = ${MEMSTORE_BYTES:-2147483648}
mon allow pool size one = true
mon max pg per osd = 1000
run dir = $dir/run
log file = $dir/\$name.log
admin socket = $dir/run/\$name.asok
pid file = $dir/run/\$name.pid
[mon]
mon data = $dir/mon/\$id
[mgr]
mgr data = $dir/mgr/\$id
[osd]
osd data = $dir/osd/\$id
[client.rgw.a]
rgw data = $dir/rgw
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
CONF
  local conf=(-c "$dir/ceph.conf")
  monmaptool --create --clobber --fsid "$fsid" --addv a "[v1:127.0.0.1:$mon_port]" "$dir/monmap"
  ceph-mon "${conf[@]}" --mkfs -i a --monmap "$dir/monmap"
  ceph-mon "${conf[@]}" -i a
  ceph-mgr "${conf[@]}" -i x
  timeout 60 ceph "${conf[@]}" osd new "$osd"
  # Without this file memstore would make up an fsid.
  echo "$osd" >"$dir/osd/0/fsid"
  ceph-osd "${conf[@]}" -i 0 --mkfs --osd-uuid "$osd"
  # The monitors refuse an OSD with "wrong fsid" if it connects before it has read their map.
  for tries in 1 2 3 4 5; do
    if ceph-osd "${conf[@]}" -i 0; then break; fi
    ((tries < 5))
    sleep 0.2
  done
  timeout 120 radosgw "${conf[@]}" -n client.rgw.a
  timeout 60 radosgw-admin "${conf[@]}" user create --uid=dev --display-name=dev \
    --access-key=test --secret-key=testsecret
  for ((tries = 0; tries < 300; tries++)); do
    if listens "$port"; then return 0; fi
    sleep 0.1
  done
  echo "the gateway does not listen on port $port"
  return 1
}

stop() {
  local dir tries
  [[ -d $1 ]] || return 0
  dir=$(cd "$1" && pwd)
  for ((tries = 0; tries < 200; tries++)); do
    local pids
    mapfile -t pids < <(processes "$dir")
    if ((${#pids[@]} == 0)); then return 0; fi
    if ((tries == 0)); then kill -TERM "${pids[@]}" 2>/dev/null || true; fi
    if ((tries == 100)); then kill -KILL "${pids[@]}" 2>/dev/null || true; fi
    sleep 0.1
  done
  echo "still running: ${pids[*]}" >&2
  return 1
}

# The processes whose configuration is in this folder. Pid files would miss a process that has not written its file yet,
# or has removed it before it ends.
processes() {
  local file arguments
  for file in /proc/[0-9]*/cmdline; do
    arguments=$(tr '\0' '\n' 2>/dev/null <"$file") || continue
    if grep -qxF -- "$1/ceph.conf" <<<"$arguments"; then basename "$(dirname "$file")"; fi
  done
}

# A port below the range from which the kernel picks, where an outgoing connection could take it in the meantime.
free_port() {
  local port
  for _ in {1..100}; do
    port=$((20000 + RANDOM % 10000))
    if ! listens "$port"; then
      echo "$port"
      return 0
    fi
  done
  return 1
}

listens() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

case ${1:-} in
  install) install ;;
  start | stop) "$1" "${2:?a folder}" ;;
  launch) launch "$2" "$3" "$4" ;;
  *)
    echo "usage: s3-server.sh install | start DIR | stop DIR" >&2
    exit 2
    ;;
esac
