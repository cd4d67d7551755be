#!/usr/bin/env bash
# Builds the image with Docker, or with buildah where there is no engine; prints its name. Where the base image cannot be pulled either, a stand-in
# for it is made from Debian's packages and npm's Node, for tests: root, buildah and debootstrap are needed, and about three minutes.
# usage: build-image.sh [--stand-in] TAG
set -euo pipefail
cd "$(dirname "$0")/.."
stand_in=no; if [ "${1:-}" = --stand-in ]; then stand_in=yes; shift; fi
tag=${1:?usage: build-image.sh [--stand-in] TAG}
args=(--build-arg "VERSION=$(node -p 'require("./package.json").version')" --build-arg "REVISION=$(git rev-parse HEAD 2>/dev/null || echo unknown)"
  --build-arg "CREATED=$(date -u +%Y-%m-%dT%H:%M:%SZ)" --tag "$tag")

if [ "$stand_in" = no ]; then
  if docker version > /dev/null 2>&1; then docker build "${args[@]}" . >&2; else buildah build --format docker "${args[@]}" . >&2; fi
  echo "$tag"
  exit
fi

export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
base=$(sed -n 's/^FROM \(node:[^ @]*\).*/\1/p' Dockerfile | head -n 1)
version=${base#node:} version=${version%%-*}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
registry=$(npm config get registry 2> /dev/null)
if ! buildah inspect --type image "docker.io/library/$base" > /dev/null 2>&1; then
  # The mirror of this machine, if it has one of its own.
  mirror=$({ cat /etc/apt/sources.list.d/*.sources 2> /dev/null || true; } | sed -n 's/^URIs: *//p' | head -n 1)
  debootstrap --no-check-gpg --variant=minbase --include=ca-certificates bookworm "$work/root" ${mirror:+"$mirror"} >&2
  npm install --silent --prefix "$work/node" --no-save --ignore-scripts "node-linux-$(node -p process.arch)@$version" >&2
  cp "$(find "$work/node" -path '*/bin/node' -type f | head -n 1)" "$work/root/usr/local/bin/node"
  modules=$work/root/usr/local/lib/node_modules/npm
  mkdir -p "$modules"
  (cd "$work" && npm pack --silent npm@11 > packed && tar xzf "$(cat packed)" --strip-components=1 -C "$modules")
  chmod +x "$modules/bin/npm-cli.js"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
  container=$(buildah from scratch)
  buildah copy --quiet "$container" "$work/root" / > /dev/null
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah commit --quiet --rm "$container" "docker.io/library/$base" > /dev/null
fi
printf 'registry=%s\ncafile=/host-ca/ca-certificates.crt\n' "$registry" > "$work/npmrc"
buildah build --pull-never --network host --format docker --volume /etc/ssl/certs:/host-ca:ro --volume "$work/npmrc:/root/.npmrc:ro" "${args[@]}" . >&2
echo "localhost/$tag"
