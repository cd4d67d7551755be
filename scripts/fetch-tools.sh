#!/usr/bin/env bash
# Fetches tools that only tests need, from Debian's packages, and prints where each is: promtool into a cache without root, chromium by apt-get with it.
set -euo pipefail
cache="${THREATWEAVE_TOOLS:-$HOME/.cache/threatweave}"

promtool() {
  if type -P promtool; then return; fi
  if [ ! -x "$cache/prometheus/usr/bin/promtool" ]; then
    mkdir -p "$cache/download"
    cd "$cache/download"
    apt-get download prometheus >&2 || { apt-get update -qq >&2 && apt-get download prometheus >&2; }
    dpkg -x prometheus_*.deb "$cache/prometheus"
    rm -f prometheus_*.deb
  fi
  echo "$cache/prometheus/usr/bin/promtool"
}

chromium() {
  if type -P chromium-headless-shell || type -P chromium; then return; fi
  if [ "$(id -u)" != 0 ]; then echo 'chromium is not installed, and only root can' >&2; return 1; fi
  local install=(apt-get install -y -qq --no-install-recommends chromium-headless-shell)
  DEBIAN_FRONTEND=noninteractive "${install[@]}" >&2 || { apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive "${install[@]}" >&2; }
  type -P chromium-headless-shell
}

for tool in "$@"; do
  case "$tool" in
    promtool | chromium) "$tool" ;;
    *) echo "there is no tool $tool to fetch" >&2; exit 64 ;;
  esac
done
