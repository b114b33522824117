# Sourced by benchmarks that tune the convolution of examples/image-filter: sets `CLTUNE` and `artifact`, the programs
# cargo-cltune and image-filter, and goes to a folder of its own, since journals are written to the current one. Where
# there is no cargo, CLTUNE is set already, and the first argument is `--artifact FILE`, which is taken away.
if [ -z "${CLTUNE:-}" ]; then
    cargo build --quiet --release -p cargo-cltune
    CLTUNE=${CARGO_TARGET_DIR:-target}/release/cargo-cltune
fi
if [ "${1:-}" = --artifact ] && [ $# -ge 2 ]; then
    artifact=$2
    shift 2
else
    cargo build --quiet --release -p image-filter
    artifact=${CARGO_TARGET_DIR:-target}/release/image-filter
fi
CLTUNE=$(realpath "$CLTUNE") artifact=$(realpath "$artifact")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
