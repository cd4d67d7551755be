#!/usr/bin/env bash
# Builds the image of a release for two platforms, with its list of parts and its provenance, into release/image.tar. Publishes nothing.
# Needs docker with buildx, and what scripts/release.mjs has made.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(node -p 'require("./package.json").version')
[ -f "release/threatweave-$version.tgz" ] || { echo "image-archive: run scripts/release.mjs first" >&2; exit 1; }
docker buildx build --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max --output type=oci,dest=release/image.tar \
  --build-arg "VERSION=$version" --build-arg "REVISION=$(git rev-parse HEAD)" --build-arg "CREATED=$(date -u +%Y-%m-%dT%H:%M:%SZ)" .
(cd release && sha256sum image.tar > image.sha256)
