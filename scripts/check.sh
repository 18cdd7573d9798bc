#!/bin/sh
# All checkers side by side; what one of them says is shown whole, and only when it fails.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM

count=0
check() {
  count=$((count + 1))
  {
    echo "$ $*" >"$out/$count"
    "$@" >>"$out/$count" 2>&1 || touch "$out/$count.failed"
  } &
}

# The compiler and the linter's half that knows types are written in Go: collecting their garbage less often saves a
# quarter of their CPU time, and they need no more memory at their peak.
export GOGC="${GOGC:-400}"
# Types that did not change since the last time are not checked again.
check_types() {
  check tsc -p "$1" --noEmit --incremental --tsBuildInfoFile "node_modules/.cache/$2.tsbuildinfo"
}
# The longest first.
check oxlint
check_types web/dashboard tsc-dashboard
check_types . tsc
check_types web tsc-web
check_types packages/sdk tsc-sdk
check knip
check node scripts/check-rooms.ts
check node scripts/find-duplicates.ts
check node scripts/check-comments.ts
check node scripts/check-texts.ts
check node scripts/write-text-values.ts --check
check node scripts/index-decisions.ts --check
check node scripts/write-openapi.ts --check
check node scripts/write-sdk-types.ts --check
check oxfmt --check
check node scripts/complete-lockfile.ts --check
wait

failed=''
for file in "$out"/*.failed; do
  [ -e "$file" ] || continue
  failed=yes
  cat "${file%.failed}" >&2
done
[ -z "$failed" ] || exit 1
echo "$count checks passed."
