#!/usr/bin/env bash
# Makes the store of an earlier version by that version's own commands, and prints the key of its agent:
# test/stores/make.sh CHECKOUT FILE.tar.gz
set -euo pipefail
checkout=$(realpath "$1") file=$(realpath -m "$2")
rows=$(mktemp -d)
store=$rows/store
trap 'rm -rf "$rows"; [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true' EXIT
program=$checkout/jobs/fvs.ts
[ -e "$program" ] || program=$checkout/jobs/fvs.js
fvs() { node "$program" "$@"; }
export STORE_URL=$store PORT=0 CACHE_DIR=$rows/cache LOG_LEVEL=info
export VERIFICATION_SIGNING_SECRET='the secret of the tests, of no use elsewhere'
# Version 1.0.0 has no log, and does not know the setting.
LOG_SIGNING_KEY=$(node -e "
  const file = '$checkout/pipeline/proof/note-keys.ts'
  if (require('node:fs').existsSync(file))
    import(file).then(({ signingKeyText }) =>
      console.log(signingKeyText('fvs.example/forecasts', 'log', new Uint8Array(32).fill(7))))")
export LOG_SIGNING_KEY

# Thirty questions with outcomes, one that is open until 2030, and six people.
node -e "
  const { writeFileSync } = require('node:fs')
  const id = (kind, number) => '00000000-0000-4000-8' + kind + '-' + String(number).padStart(12, '0')
  const numbers = Array.from({ length: 30 }, (_, index) => index + 1)
  const write = (name, lines) => writeFileSync('$rows/' + name + '.csv', lines.join('\n') + '\n')
  const question = (number, closes) => [id('001', number), 'Question ' + number, '2026-01-01T00:00:00Z', closes].join()
  write('questions', ['question_id,title,opened_at,closes_at',
    ...numbers.map((number) => question(number, '2026-02-01T00:00:00Z')), question(31, '2030-01-01T00:00:00Z')])
  const outcome = (number) => [id('001', number), number % 3 ? 'no' : 'yes', '2026-02-0' + (1 + (number % 9)) + 'T00:00:00Z'].join()
  write('resolutions', ['question_id,outcome,resolved_at', ...numbers.slice(0, 29).map(outcome)])
  write('last', ['question_id,outcome,resolved_at', outcome(30)])
  write('forecasters', ['user_id,display_name', ...[1, 2, 3, 4, 5, 6].map((person) => id('002', person) + ',Person ' + person)])
  write('forecasts', ['entity_type,entity_id,question_id,probability,forecast_at',
    ...[1, 2, 3, 4, 5, 6].flatMap((person) => numbers.map((number) =>
      ['forecaster', id('002', person), id('001', number), (number % 3 ? person : 10 - person) / 10, '2026-01-02T00:00:00Z'].join()))])"
for kind in questions resolutions forecasters forecasts; do fvs import $kind "$rows/$kind.csv"; done

# An agent that forecasts on the open question, before a release and after it.
node "$program" serve --no-scheduler 2> "$rows/serve.log" &
server=$!
for _ in $(seq 100); do
  url=$(grep -o 'http://127[^" ]*' "$rows/serve.log" | head -1) && break
  sleep 0.2
done
json='Content-Type: application/json'
agent=$(curl -sS "$url/agents/register" -H "$json" -d '{"name": "An agent", "model_type": "a model"}')
key=$(node -p "JSON.parse(process.argv[1]).api_key" "$agent")
forecast() {
  curl -sSf "$url/agents/$(node -p "JSON.parse(process.argv[1]).agent_id" "$agent")/forecast" \
    -H "$json" -H "Authorization: Bearer $key" -H "X-API-Key: $key" \
    -d "{\"question_id\": \"00000000-0000-4000-8001-000000000031\", \"probability\": $1}"
}
until forecast 0.25 > /dev/null; do sleep 0.2; done
fvs release
fvs import resolutions "$rows/last.csv"
forecast 0.5 > /dev/null
fvs release
forecast 0.75 > /dev/null
kill "$server" && wait "$server" || true
unset server
tar --exclude .staging --exclude sandbox --exclude probe --sort name --owner 0 --group 0 -C "$store" -czf "$file" .
echo "$key"
