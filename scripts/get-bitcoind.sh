#!/bin/sh
# Downloads a real Bitcoin node for the tests: Bitcoin Knots from Debian sid, into a separate folder, run with its own
# loader and libraries, so that the machine's packages do not change. For Debian and its derivatives on amd64 and arm64;
# needs no root. About 35 MB in $BITCOIND_DIR (default ~/.cache/cointill/bitcoind), downloaded once.
# Prints the folder that holds `bitcoind` and `bitcoin-cli`, for the PATH, or says in one line why there is none.
set -eu

dir=${BITCOIND_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/cointill/bitcoind}
fresh=''

main() {
  # The copy of an earlier run stays; remove the folder to get the newest.
  if [ ! -x "$dir/bin/bitcoind" ]; then
    for program in apt-get dpkg dpkg-deb flock; do
      command -v "$program" >/dev/null 2>&1 || give_up "$program is missing: this is no Debian"
    done
    mkdir -p "$(dirname "$dir")"
    # A second run waits for the first and finds the work done.
    exec 9>"$dir.lock"
    flock 9
    [ -x "$dir/bin/bitcoind" ] || bring
  fi
  echo "$dir/bin"
}

give_up() {
  echo "No bitcoind: $1. Put one on the PATH (https://bitcoincore.org/en/download)." >&2
  exit 1
}

# Everything is prepared beside the folder, which is then complete after one rename: a failed run leaves no half.
bring() {
  rm -rf "$dir" "$dir".fresh.*
  fresh=$(mktemp -d "$dir.fresh.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  trap 'exit 1' HUP INT TERM
  mkdir -p "$fresh/apt/lists/partial" "$fresh/apt/cache/archives/partial" "$fresh/root" "$fresh/node/bin" "$fresh/node/lib"
  download >"$fresh/log" 2>&1 || give_up "Debian sid gave no bitcoin-knots ($(grep -m 1 '^[EW]:' "$fresh/log" || tail -n 1 "$fresh/log"))"
  for package in "$fresh"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$fresh/root"; done
  gather >"$fresh/log" 2>&1 || give_up "its parts do not fit together ($(tail -n 1 "$fresh/log"))"
  version=$("$fresh/node/bin/bitcoind" -version 2>&1 | head -n 1) || give_up "it does not run here ($version)"
  mv -T "$fresh/node" "$dir"
  echo "Installed $version." >&2
}

# The machine's own mirror, proxy and keys, with sid instead of its release, and nothing of the machine's own state.
download() {
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' | awk -v release="$release" '$1 == release && $2 == "main" { print $3; exit }')
  [ -n "$mirror" ] || { echo "E: apt names no mirror of Debian $release"; return 1; }
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" >"$fresh/apt/sources.list"
  : >"$fresh/apt/status"
  apt update || return 1
  apt --yes --download-only install bitcoin-knots
}

apt() {
  # A mirror may be a snapshot, whose index has outlived its date. Signatures are checked all the same.
  # apt's user for downloads may be unable to enter the folder.
  apt-get -q -o Dir::Etc::sourcelist="$fresh/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State="$fresh/apt" -o Dir::State::lists="$fresh/apt/lists" -o Dir::State::status="$fresh/apt/status" \
    -o Dir::Cache="$fresh/apt/cache" -o APT::Update::Error-Mode=any -o Acquire::Check-Valid-Until=false \
    -o Acquire::Retries=3 -o APT::Install-Recommends=false -o APT::Sandbox::User="$(id -un)" "$@"
}

# The two programs, the loader and the libraries that they load; a small script starts each through that loader.
gather() {
  loader=$(find "$fresh/root/usr" -name 'ld-linux-*.so.*' | head -n 1)
  libraries=$(dirname "$loader")
  cp -L "$loader" "$fresh/node/lib/ld.so"
  for program in bitcoind bitcoin-cli; do
    cp "$fresh/root/usr/bin/$program" "$fresh/node/lib/$program" || return 1
    list=$("$loader" --library-path "$libraries" --list "$fresh/root/usr/bin/$program") || { echo "$list"; return 1; }
    echo "$list" | awk '$2 == "=>" { print $3 }' | while read -r library; do
      case $library in
        */ld-linux-*) ;;
        "$fresh"/*) cp -L "$library" "$fresh/node/lib/" ;;
        *) echo "$program needs $library, which no package brought"; return 1 ;;
      esac
    done || return 1
    cat >"$fresh/node/bin/$program" <<'SH'
#!/bin/sh
lib=$(dirname "$(dirname "$(readlink -f "$0")")")/lib
exec "$lib/ld.so" --library-path "$lib" "$lib/${0##*/}" "$@"
SH
    chmod +x "$fresh/node/bin/$program"
  done
}

main
