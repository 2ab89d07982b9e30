#!/usr/bin/env bash
# Makes Python environments for the tests in test/delta, with the readers that they compare, in test/openapi and in
# test/badges.
#
#   python-venv.sh DIR    makes or completes it under DIR and prints the variables to export
set -euo pipefail

dir=${1:?usage: python-venv.sh DIR}
tests=$(dirname "${BASH_SOURCE[0]}")/..

for environment in "$dir" "$dir/clients" "$dir/forecasting" "$dir/badges"; do
  [[ -x $environment/bin/python ]] || python3 -m venv "$environment"
done
for requirements in "$tests"/{delta,openapi}/requirements.txt; do
  "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$requirements"
done
"$dir/clients/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
  --requirement "$tests/openapi/clients/requirements.txt"
"$dir/forecasting/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
  --requirement "$tests/openapi/forecasting-tools/requirements.txt"
"$dir/badges/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
  --requirement "$tests/badges/requirements.txt"
root=$(cd "$dir" && pwd)
echo "export DELTA_PYTHON=$root/bin/python SCHEMATHESIS=$root/bin/schemathesis CLIENTS_PYTHON=$root/clients/bin/python" \
  "FORECASTING_PYTHON=$root/forecasting/bin/python BADGES_PYTHON=$root/badges/bin/python"
