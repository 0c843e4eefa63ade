#!/usr/bin/env bash
# Builds kubectl from the Go module proxy into a cache outside of the repository, and prints its path.
set -euo pipefail
version=1.34.2
cache="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/itbench-baselines/kubectl-$version"
if [ -x "$cache/kubectl" ]; then
  echo "$cache/kubectl"
  exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
{
  source="$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",\{0,1\}$/\1/p')"
  # The module's own staging folders are separate modules outside of its repository, one minor version lower.
  cp -r "$source/." .
  chmod -R u+w .
  sed -i.orig -E "s#^([[:space:]]*)(k8s\.io/[a-z-]+) => \./staging/src/k8s\.io/[a-z-]+#\1\2 => \2 v0.${version#*.}#" go.mod
  rm -rf vendor go.work go.work.sum
  mkdir -p "$cache"
  GOFLAGS=-mod=mod CGO_ENABLED=0 go build -trimpath -ldflags "-s -w \
    -X k8s.io/component-base/version.gitVersion=v$version \
    -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34" \
    -o "$cache/kubectl.new" ./cmd/kubectl
  mv "$cache/kubectl.new" "$cache/kubectl"
} >&2
echo "$cache/kubectl"
