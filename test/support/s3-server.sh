#!/usr/bin/env bash
# A real S3 server on loopback: one Ceph monitor, one manager, one in-memory OSD and one RADOS Gateway.
#
#   s3-server.sh install      the Debian packages, as root
#   s3-server.sh start DIR    starts it under DIR and prints the variables to export
#   s3-server.sh stop DIR     ends what `start DIR` began, and returns when it is gone
#
# RGW_PORT and MON_PORT fix the ports; otherwise free ones are taken. MEMSTORE_BYTES bounds what it holds.
set -euo pipefail

install() {
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    ceph-mon ceph-mgr ceph-osd radosgw ceph-common uuid-runtime >/dev/null
}

start() {
  local dir try
  dir=$(mkdir -p "$1" && cd "$1" && pwd)
  if [[ -n $(running "$dir") ]]; then
    echo "a server runs under $dir already: stop it first" >&2
    return 1
  fi
  # Another process may take a free port before the server does: then it gets others.
  for try in 1 2 3; do
    local port=${RGW_PORT:-$(free_port)} mon_port=${MON_PORT:-$(free_port)}
    if (launch "$dir" "$port" "$mon_port") >"$dir/start.log" 2>&1 </dev/null; then
      echo "export S3_ENDPOINT=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=testsecret AWS_REGION=us-east-1"
      return 0
    fi
    stop "$dir"
    echo "start $try of 3 failed:" >&2
    tail -n 20 "$dir/start.log" >&2
  done
  return 1
}

# Runs in a shell of its own, so that the first failing line ends it even inside a condition.
launch() {
  local dir=$1 port=$2 mon_port=$3 fsid osd
  fsid=$(uuidgen) osd=$(uuidgen)
  bash -euo pipefail -s -- "$dir" "$port" "$mon_port" "$fsid" "$osd" <<'LAUNCH'
dir=$1 port=$2 mon_port=$3 fsid=$4 osd=$5
rm -rf "${dir:?}"/{mon,mgr,osd,run,rgw}
mkdir -p "$dir"/{mon/a,mgr/x,osd/0,run,rgw}
cat >"$dir/ceph.conf" <<CONF
[global]
fsid = $fsid
mon host = 127.0.0.1:$mon_port
mon initial members = a
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
rgw frontends = beast endpoint=127.0.0.1:$port
CONF
conf=(-c "$dir/ceph.conf")
monmaptool --create --clobber --fsid "$fsid" --add a "127.0.0.1:$mon_port" "$dir/monmap"
ceph-mon "${conf[@]}" --mkfs -i a --monmap "$dir/monmap"
ceph-mon "${conf[@]}" -i a
ceph-mgr "${conf[@]}" -i x
timeout 60 ceph "${conf[@]}" osd new "$osd"
echo "$osd" >"$dir/osd/0/fsid" # memstore invents an fsid of its own unless it finds one
ceph-osd "${conf[@]}" -i 0 --mkfs --osd-uuid "$osd"
ceph-osd "${conf[@]}" -i 0
timeout 120 radosgw "${conf[@]}" -n client.rgw.a
timeout 60 radosgw-admin "${conf[@]}" user create --uid=dev --display-name=dev \
  --access-key=test --secret-key=testsecret
for ((tries = 0; ; tries++)); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then exit 0; fi
  if ((tries == 300)); then
    echo "the gateway does not listen on port $port"
    exit 1
  fi
  sleep 0.1
done
LAUNCH
}

# The ids of this folder's server processes, by their own pid files; never a process that took over an id.
running() {
  local file pid
  for file in "$1"/run/*.pid; do
    [[ -s $file ]] || continue
    pid=$(<"$file")
    if tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "-c $1/ceph.conf "; then echo "$pid"; fi
  done
}

stop() {
  local dir pids tries
  dir=$(cd "$1" && pwd)
  pids=$(running "$dir")
  for ((tries = 0; ; tries++)); do
    # shellcheck disable=SC2086
    [[ -z $pids ]] && return 0
    if ((tries == 0)); then kill -TERM $pids 2>/dev/null || true; fi
    if ((tries == 100)); then kill -KILL $pids 2>/dev/null || true; fi
    if ((tries == 200)); then
      echo "still there: $pids" >&2
      return 1
    fi
    sleep 0.1
    pids=$(alive $pids)
  done
}

# Ceph removes its pid files before it ends.
alive() {
  local pid
  for pid in "$@"; do
    if [[ -r /proc/$pid/stat && $(awk '{ print $3 }' "/proc/$pid/stat" 2>/dev/null) != Z ]]; then echo "$pid"; fi
  done
}

# Below the range that the kernel hands out, where an outgoing connection could take it in the meantime.
free_port() {
  local port
  for _ in {1..100}; do
    port=$((20000 + RANDOM % 10000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "$port"
      return 0
    fi
  done
  return 1
}

case ${1:-} in
  install) install ;;
  start | stop) "$1" "${2:?a folder}" ;;
  *)
    echo "usage: s3-server.sh install | start DIR | stop DIR" >&2
    exit 2
    ;;
esac
