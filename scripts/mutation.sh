#!/bin/sh
# Mutation testing of src/domain finds small faults that the domain's tests would miss. It takes half a minute.
# Arguments choose files: `npm run test:mutation -- src/domain/money.ts`; `-- payments`: src/app/payments.
set -eu
cd "$(dirname "$0")/.."
# The packages are installed apart: 78 that nothing else needs.
home=dist/mutation
if ! cmp -s test/mutation/package-lock.json "$home/installed.json"; then
  mkdir -p "$home"
  cp test/mutation/package.json test/mutation/package-lock.json "$home/"
  npm ci --prefix "$home" --ignore-scripts --no-audit --no-fund
  # Last, so that an interrupted installation is repeated.
  cp test/mutation/package-lock.json "$home/installed.json"
fi
# A sample of src/app/payments takes minutes, because its tests work on databases and nodes.
[ "${1:-}" != payments ] || exec node scripts/mutate-payments.ts
exec node scripts/mutation.ts "$@"
