
# What follows `cargo`, without a toolchain (+nightly).
function __fish_cargo_cltune_words
    set -l words (commandline -opc)[2..-1]
    while string match -q -- '+*' $words[1]
        set -e words[1]
    end
    string join \n -- $words
end

# `cargo cltune …` is completed as `cargo-cltune cltune …` is.
complete -c cargo -f -n 'test (__fish_cargo_cltune_words)[1] = cltune 2>/dev/null' \
    -a '(complete -C "cargo-cltune "(string join " " -- (string escape -- (__fish_cargo_cltune_words)))" "(commandline -ct))'
