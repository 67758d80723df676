#!/bin/sh
# Fetch the pinned packages from npm and copy the files the console serves; then check them.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # name version file...
  plain=$(echo "$1" | tr -d @ | tr / -) # as npm names the archive of a scoped package
  npm pack --silent --pack-destination "$work" "$1@$2" >/dev/null
  tar -xzf "$work/$plain-$2.tgz" -C "$work"
  cp "$work/package/LICENSE" "LICENSE-$plain"
  (cd "$work/package" && shift 2 && cp "$@" "$OLDPWD")
  rm -rf "$work/package"
}

fetch dompurify 3.4.18 dist/purify.es.mjs
fetch marked 18.2.1 lib/marked.esm.js
fetch @highlightjs/cdn-assets 11.11.1 es/highlight.min.js
fetch swagger-ui-dist 5.35.0 swagger-ui-bundle.js swagger-ui.css
sha256sum --check SHA256SUMS
