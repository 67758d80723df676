#!/bin/sh
# Fetch the pinned packages from npm and copy the files the console serves; then check them.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # name version file
  npm pack --silent --pack-destination "$work" "$1@$2" >/dev/null
  tar -xzf "$work/$1-$2.tgz" -C "$work"
  cp "$work/package/$3" .
  cp "$work/package/LICENSE" "LICENSE-$1"
  rm -rf "$work/package"
}

fetch dompurify 3.4.18 dist/purify.es.mjs
fetch marked 18.2.1 lib/marked.esm.js
sha256sum --check SHA256SUMS
