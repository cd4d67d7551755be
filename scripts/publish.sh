#!/usr/bin/env bash
# Publishes what scripts/release.mjs has made: the package, the image for two platforms with its list of parts and a signature, the chart, and the notes.
# Needs docker with buildx, cosign, helm and gh, each logged in, and npm with a token or a trusted publisher.
# usage: publish.sh IMAGE CHARTS    such as  publish.sh ghcr.io/OWNER/threatweave oci://ghcr.io/OWNER/charts
set -euo pipefail
cd "$(dirname "$0")/.."
image=${1:?usage: publish.sh IMAGE CHARTS} charts=${2:?usage: publish.sh IMAGE CHARTS}
version=$(node -p 'require("./package.json").version')
[ -f "release/threatweave-$version.tgz" ] || { echo "publish: run scripts/release.mjs first" >&2; exit 1; }
(cd release && sha256sum --check --quiet SHA256SUMS)

npm publish "release/threatweave-$version.tgz"

docker buildx build --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max --push \
  --build-arg "VERSION=$version" --build-arg "REVISION=$(git rev-parse HEAD)" --build-arg "CREATED=$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
  --tag "$image:$version" --metadata-file release/image.json .
digest=$(node -p 'require("./release/image.json")["containerimage.digest"]')
cosign sign --yes "$image@$digest"

helm push "release/chart/threatweave-$version.tgz" "$charts"

gh release create "v$version" --verify-tag --title "$version" --notes-file release/notes.md \
  "release/threatweave-$version.tgz" "release/threatweave-$version.cdx.json" release/SHA256SUMS
