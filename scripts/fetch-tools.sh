#!/usr/bin/env bash
# Fetches tools that only tests need, from Debian's packages, and prints where each is: promtool and rsyslogd into a cache without root, the others by apt-get with it.
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

# With what it needs at run time; only root can install or use them.
packaged() {
  if type -P "$1"; then return; fi
  if [ "$(id -u)" != 0 ]; then echo "$1 is not installed, and only root can" >&2; return 1; fi
  local install=(apt-get install -y -qq --no-install-recommends "$1")
  DEBIAN_FRONTEND=noninteractive "${install[@]}" >&2 || { apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive "${install[@]}" >&2; }
  type -P "$1"
}

chromium() {
  type -P chromium || packaged chromium-headless-shell
}

# The daemon with its module for Kafka and the libraries that a small system lacks. They are not where they look for each other, so a script starts it.
rsyslogd() {
  local folder="$cache/rsyslog" packages=(rsyslog rsyslog-kafka libestr0 libfastjson4 liblognorm5 librdkafka1 libsasl2-2)
  if [ ! -x "$folder/rsyslogd" ]; then
    rm -rf "$folder"
    mkdir -p "$folder/download"
    cd "$folder/download"
    apt-get download "${packages[@]}" >&2 || { apt-get update -qq >&2 && apt-get download "${packages[@]}" >&2; }
    for package in *.deb; do dpkg -x "$package" "$folder"; done
    local modules
    modules="$(dirname "$(find "$folder" -name omkafka.so)")"
    printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" -M "%s" "$@"\n' "$(dirname "$modules")" "$folder/usr/sbin/rsyslogd" "$modules" > rsyslogd
    chmod +x rsyslogd
    # Last, so that what was interrupted is not taken for complete.
    mv rsyslogd "$folder/rsyslogd"
    rm -rf "$folder/download"
  fi
  echo "$folder/rsyslogd"
}

for tool in "$@"; do
  case "$tool" in
    promtool | chromium | rsyslogd) "$tool" ;;
    # It reads a template of its package at a fixed place.
    alertmanager) packaged prometheus-alertmanager ;;
    buildah | debootstrap | fish | zsh) packaged "$tool" ;;
    *) echo "there is no tool $tool to fetch" >&2; exit 64 ;;
  esac
done
