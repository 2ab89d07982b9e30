#!/usr/bin/env bash
# Writes the types of both clients from the OpenAPI document: api.ts and api.py, into two folders.
#
#   generate.sh [TYPESCRIPT PYTHON]    by default the folders of the clients
#
# It needs the generators: `npm ci --prefix test/openapi/clients`, and CLIENTS_PYTHON as test/support/python-venv.sh
# prints it.
set -euo pipefail

clients=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
typescript=${1:-$clients/typescript}
python=${2:-$clients/python/forecast_verification_client}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

node "$clients/document.ts" >"$work/openapi.json"
"$clients/../test/openapi/clients/node_modules/.bin/openapi-typescript" "$work/openapi.json" \
  --root-types --root-types-no-schema-prefix --output "$typescript/api.ts" >"$work/log"
"$clients/../node_modules/.bin/prettier" --config "$clients/../.prettierrc.json" --log-level warn --write "$typescript/api.ts"
"$(dirname "$CLIENTS_PYTHON")/datamodel-codegen" --input "$work/openapi.json" --input-file-type openapi \
  --output-model-type typing.TypedDict --target-python-version 3.11 --use-field-description --disable-timestamp \
  --custom-file-header '# Written by clients/generate.sh from the OpenAPI document.' --formatters black \
  --output "$python/api.py"
