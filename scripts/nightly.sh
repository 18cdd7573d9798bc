#!/bin/sh
# Tests that take too long for every change: new histories of the simulation, more random requests, walks through the
# dashboard of a project with a million payments, backups and restores killed at many points, the change of hundreds of
# refunds, pages on every screen and in both themes, the program beside both kinds of UTXO nodes, mutation testing, the
# page for losses in full, the last release's own tests on this schema, the API's tests in schemas of one database, the
# SDK on a bad network and on every runtime, the guides of docs/how-to/ followed in a copy, a change of the key under
# load, messages to a shop from workers that are killed, half an hour on a cluster where there is one, ten minutes of
# chaos, and the accountant's hour on each family.
set -eu
cd "$(dirname "$0")/.."
seeds=${SIMULATION_SEEDS:-5000}
# Days since 1970 make each night's first seed.
first=$(($(date -u +%s) / 86400 * seeds + 1))
echo "Seeds $first to $((first + seeds - 1))"
SIMULATION_SEEDS=150 SIMULATION_FIRST_SEED=1 vitest run test/simulation --testTimeout 7200000
SIMULATION_SEEDS=$seeds SIMULATION_FIRST_SEED=$first vitest run test/simulation --testTimeout 7200000
PAYMENTS=1000000 vitest run --maxWorkers 1 test/dashboard/pages.browser test/dashboard/shell.browser \
  test/dashboard/list.browser test/dashboard/payment.browser test/dashboard/attention.browser test/dashboard/million.browser
# The requests differ each night.
FUZZ_REQUESTS=10000 vitest run test/e2e/fuzz --testTimeout 7200000
FUZZ_REQUESTS=10000 FUZZ_SEED=$first vitest run test/e2e/fuzz --testTimeout 7200000
TESTS=night vitest run test/e2e/backup-crash test/e2e/backup-signals
TESTS=night vitest run test/e2e/payment-page-layout test/e2e/payment-page-axe test/dashboard --project browser
TESTS=night vitest run test/e2e/live-utxo test/e2e/refund-show
TESTS=night vitest run test/e2e/when-something-is-lost src/store/upgrade
TESTS=night vitest run test/e2e/rolling
TESTS=night vitest run test/e2e/rotate-key test/e2e/shop-messages
# Every installation in a schema of one database, several at once.
TEST_DATABASES=schemas vitest run test/api --project db
SDK_CREATIONS=10000 vitest run test/sdk/bad-network
TESTS=night vitest run test/sdk/package
REFUNDS=500 vitest run src/app/refunds/refund-change
sh scripts/mutation.sh
sh scripts/mutation.sh payments
node scripts/count-touched.ts
node scripts/build-program.ts --if-changed
# The cluster needs a root that scripts/ha-root.sh made.
[ -z "${HA_ROOT:-}" ] || node test/ha/run.ts --minutes 30 --seed "$first"
node test/chaos/run.ts --minutes 10 --seed "$first"
node test/money/run.ts --minutes 60 --seeds 20 --seed "$first"
