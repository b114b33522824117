
# clap's completer fails at words that are no commands, as files and options' values are: what is before
# them decides. Words that are no options may be files.
var cargo-cltune-words~ = $edit:completion:arg-completer[cargo-cltune]
fn cargo-cltune-known {|@words|
    try {
        cargo-cltune-words $@words
    } catch {
        if (> (count $words) 2) {
            cargo-cltune-known (all $words[..-2]) $words[-1]
        }
    }
}
set edit:completion:arg-completer[cargo-cltune] = {|@words|
    cargo-cltune-known $@words
    if (and (> (count $words) 3) (not (str:has-prefix $words[-1] '-'))) {
        edit:complete-filename $@words
    }
}

# `cargo cltune …`, also with a toolchain (+nightly), is completed as `cargo-cltune cltune …` is.
# Everything else of cargo is left to what completed it before, or to files.
var cargo-cltune-before~ = {|@words| edit:complete-filename $@words }
if (has-key $edit:completion:arg-completer cargo) {
    set cargo-cltune-before~ = $edit:completion:arg-completer[cargo]
}
set edit:completion:arg-completer[cargo] = {|@words|
    var rest = $words[1..]
    if (and (> (count $rest) 1) (str:has-prefix $rest[0] '+')) {
        set rest = $rest[1..]
    }
    if (and (> (count $rest) 1) (eq $rest[0] cltune)) {
        $edit:completion:arg-completer[cargo-cltune] cargo-cltune $@rest
    } else {
        cargo-cltune-before $@words
    }
}
