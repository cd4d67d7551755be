#!/usr/bin/env bash
# Publishes what scripts/release.mjs has made: the package, the image with a signature, the chart, and the notes.
# Builds nothing and runs nothing of a dependency. Needs skopeo, cosign, helm and gh, each logged in, and npm with a token or a trusted publisher.
# usage: publish.sh    The image's name is in release/image.txt; the chart goes to charts/ beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(node -p 'require("./package.json").version')
[ -f release/SHA256SUMS ] && [ -f release/image.txt ] || { echo "publish: run scripts/release.mjs first" >&2; exit 1; }
(cd release && sha256sum --check --quiet SHA256SUMS)
reference=$(cat release/image.txt) image=${reference%@*} digest=${reference#*@}

npm publish --ignore-scripts "release/threatweave-$version.tgz"

skopeo copy --all --preserve-digests --digestfile release/image.digest oci-archive:release/image.tar "docker://$image:$version"
[ "$(cat release/image.digest)" = "$digest" ] || { echo "publish: $image:$version is not $digest, which the chart names" >&2; exit 1; }
cosign sign --yes "$reference"

helm push "release/chart/threatweave-$version.tgz" "oci://${image%/*}/charts"

gh release create "v$version" --verify-tag --title "$version" --notes-file release/notes.md \
  "release/threatweave-$version.tgz" "release/threatweave-$version.cdx.json" release/SHA256SUMS
