#!/usr/bin/env bash
# Publishes what scripts/release.mjs and scripts/image-archive.sh have made: the package, the image with a signature, the chart, and the notes.
# Builds nothing and runs nothing of a dependency. Needs skopeo, cosign, helm and gh, each logged in, and npm with a token or a trusted publisher.
# usage: publish.sh IMAGE CHARTS    such as  publish.sh ghcr.io/OWNER/threatweave oci://ghcr.io/OWNER/charts
set -euo pipefail
cd "$(dirname "$0")/.."
image=${1:?usage: publish.sh IMAGE CHARTS} charts=${2:?usage: publish.sh IMAGE CHARTS}
version=$(node -p 'require("./package.json").version')
[ -f "release/threatweave-$version.tgz" ] || { echo "publish: run scripts/release.mjs first" >&2; exit 1; }
[ -f release/image.tar ] || { echo "publish: run scripts/image-archive.sh first" >&2; exit 1; }
(cd release && sha256sum --check --quiet SHA256SUMS image.sha256)

npm publish --ignore-scripts "release/threatweave-$version.tgz"

skopeo copy --all --preserve-digests --digestfile release/image.digest oci-archive:release/image.tar "docker://$image:$version"
cosign sign --yes "$image@$(cat release/image.digest)"

helm push "release/chart/threatweave-$version.tgz" "$charts"

gh release create "v$version" --verify-tag --title "$version" --notes-file release/notes.md \
  "release/threatweave-$version.tgz" "release/threatweave-$version.cdx.json" release/SHA256SUMS
