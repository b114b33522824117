
# For `cargo cltune …` too, where nothing completes cargo yet.
if (not (has-key $edit:completion:arg-completer cargo)) {
    set edit:completion:arg-completer[cargo] = $edit:completion:arg-completer[cargo-cltune]
}
