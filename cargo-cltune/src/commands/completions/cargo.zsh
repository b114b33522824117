
# zsh's completion of cargo calls `_cargo-NAME` for a command it does not know, with the command as the
# first word; `cargo-cltune cltune …` has a word more.
_cargo-cltune() {
    if [[ "$words[1]" == cltune ]]; then
        words=(cargo-cltune "${words[@]}")
        (( CURRENT++ ))
    fi
    _cargo-cltune-words "$@"
}

if [ "$funcstack[1]" = "_cargo-cltune" ]; then
    _cargo-cltune "$@"
else
    compdef _cargo-cltune cargo-cltune
fi
