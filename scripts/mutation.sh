#!/bin/sh
# Mutation testing of src/domain: which small faults would the tests of the domain let pass? Half a minute.
# With arguments only of these files: `npm run test:mutation -- src/domain/money.ts`; `-- payments`: src/app/payments.
set -eu
cd "$(dirname "$0")/.."
# What it needs lies apart: 78 packages that nothing else needs.
home=dist/mutation
if ! cmp -s test/mutation/package-lock.json "$home/installed.json"; then
  mkdir -p "$home"
  cp test/mutation/package.json test/mutation/package-lock.json "$home/"
  npm ci --prefix "$home" --ignore-scripts --no-audit --no-fund
  # Last, so that an installation that was broken off is made again.
  cp test/mutation/package-lock.json "$home/installed.json"
fi
# Of a sample of src/app/payments: minutes, since its tests work on databases and nodes.
[ "${1:-}" != payments ] || exec node scripts/mutate-payments.ts
exec node scripts/mutation.ts "$@"
