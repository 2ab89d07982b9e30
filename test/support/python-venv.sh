#!/usr/bin/env bash
# Makes a Python environment for the tests in test/delta, with the readers that they compare, and in test/openapi.
#
#   python-venv.sh DIR    makes or completes it under DIR and prints the variables to export
set -euo pipefail

dir=${1:?usage: python-venv.sh DIR}
tests=$(dirname "${BASH_SOURCE[0]}")/..

[[ -x $dir/bin/python ]] || python3 -m venv "$dir"
for requirements in "$tests"/{delta,openapi}/requirements.txt; do
  "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$requirements"
done
bin=$(cd "$dir" && pwd)/bin
echo "export DELTA_PYTHON=$bin/python SCHEMATHESIS=$bin/schemathesis"
