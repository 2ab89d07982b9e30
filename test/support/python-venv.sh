#!/usr/bin/env bash
# A Python of its own for the tests in test/delta, with the readers that they compare.
#
#   python-venv.sh DIR    makes or completes it under DIR and prints the variable to export
set -euo pipefail

dir=${1:?usage: python-venv.sh DIR}
requirements=$(dirname "${BASH_SOURCE[0]}")/../delta/requirements.txt

[[ -x $dir/bin/python ]] || python3 -m venv "$dir"
"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$requirements"
echo "export DELTA_PYTHON=$(cd "$dir" && pwd)/bin/python"
