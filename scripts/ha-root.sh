#!/bin/sh
# Makes a folder with Debian's PostgreSQL 18, Patroni, etcd, haproxy and PgBouncer for npm run test:ha, apart from the
# machine's own: sh scripts/ha-root.sh /var/cache/cointill-ha. Needs root, mmdebstrap and about 600 MB.
set -eu
root=${1:?'Name the folder to make, as in: sh scripts/ha-root.sh /var/cache/cointill-ha'}
command -v mmdebstrap >/dev/null || {
  echo 'mmdebstrap is missing. Install it: apt-get install mmdebstrap' >&2
  exit 1
}
if [ -e "$root" ]; then
  echo "$root is there already. Remove it to make it anew." >&2
  exit 1
fi
# The first stable Debian with PostgreSQL 18 is not released. A mirror may be older than its Release file allows.
mmdebstrap --variant=apt --include=postgresql-18,patroni,python3-etcd,python3-psycopg2,etcd-server,haproxy,pgbouncer \
  --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='APT::Install-Recommends "false"' \
  "${HA_SUITE:-forky}" "$root.part" "${HA_MIRROR:-http://deb.debian.org/debian}"
mv "$root.part" "$root"
echo "Now run: HA_ROOT=$root npm run test:ha"
