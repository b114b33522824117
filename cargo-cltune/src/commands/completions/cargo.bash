
# For `cargo cltune …` the words are in the same places as for `cargo-cltune cltune …`, so the same
# function completes both. Everything else of cargo is left to what completed it before.
if ! declare -F _cargo_cltune__of_cargo >/dev/null; then
    if ! complete -p cargo >/dev/null 2>&1; then
        # bash-completion loads what it has for a command when it is first asked for it.
        for _cargo_cltune__loader in _comp_load _completion_loader; do
            if declare -F "$_cargo_cltune__loader" >/dev/null; then
                "$_cargo_cltune__loader" cargo >/dev/null 2>&1
                break
            fi
        done
        unset _cargo_cltune__loader
    fi
    _cargo_cltune__before=
    if [[ "$(complete -p cargo 2>/dev/null)" =~ -F\ ([^ ]+) ]]; then
        _cargo_cltune__before=${BASH_REMATCH[1]}
    fi
fi

_cargo_cltune__of_cargo() {
    local word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            # A toolchain, or an option of cargo's own.
            [+-]*) ;;
            cltune)
                _cargo_cltune "$@"
                return
                ;;
            *) break ;;
        esac
    done
    if [[ -n $_cargo_cltune__before ]]; then
        "$_cargo_cltune__before" "$@"
    fi
}

complete -F _cargo_cltune -o bashdefault -o default cargo-cltune
complete -F _cargo_cltune__of_cargo -o bashdefault -o default cargo
