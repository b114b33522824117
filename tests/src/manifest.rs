//! Manifests of packages that depend on cltune by path.

use crate::tools;

/// The features of cltune in [`manifest`]: those that most packages here use, and that
/// `cltune-kernels` asks for. With others, cltune is built once more.
const FEATURES: &str = "features = [\"f16\", \"fused\", \"several-devices\"], ";

/// The manifest of a package that depends on cltune.
pub fn manifest(name: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ncltune = {{ {FEATURES}path = '{}' }}\n\n[workspace]\n",
        // A literal string of TOML: nothing in it is an escape.
        tools::repository().join("cltune").display()
    )
}

/// The manifest of a package that depends on cltune without its features.
pub fn plain_manifest(name: &str) -> String {
    manifest(name).replace(FEATURES, "")
}

/// The manifest of a package that depends on cltune and on `cltune-kernels`.
pub fn manifest_with_kernels(name: &str) -> String {
    let kernels = tools::repository().join("kernels");
    let dependency = format!(
        "[dependencies]\ncltune-kernels = {{ path = '{}' }}\n",
        kernels.display()
    );
    manifest(name).replace("[dependencies]\n", &dependency)
}
