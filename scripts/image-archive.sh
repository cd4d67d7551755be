#!/usr/bin/env bash
# Writes the image of a release as an OCI archive: for two platforms with its bill of materials and provenance, by docker with buildx.
# With --stand-in for this platform alone, by buildah and on the base that build-image.sh makes. Publishes nothing.
# usage: image-archive.sh [--stand-in] FILE
set -euo pipefail
cd "$(dirname "$0")/.."
stand_in=no; if [ "${1:-}" = --stand-in ]; then stand_in=yes; shift; fi
file=${1:?usage: image-archive.sh [--stand-in] FILE}
version=$(node -p 'require("./package.json").version')
if [ "$stand_in" = yes ]; then
  image=$(scripts/build-image.sh --stand-in "threatweave:$version" | tail -n 1)
  STORAGE_DRIVER=vfs buildah push --quiet "$image" "oci-archive:$file:$version" > /dev/null
else
  docker buildx build --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max --output "type=oci,dest=$file" \
    --build-arg "VERSION=$version" --build-arg "REVISION=$(git rev-parse HEAD)" --build-arg "CREATED=$(date -u +%Y-%m-%dT%H:%M:%SZ)" .
fi
