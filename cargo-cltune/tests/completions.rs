//! `cargo cltune completions` and `cargo cltune man`, as shells and readers use them.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// With something that completed cargo before, and asking as bash does.
const BASH: &str = r#"
    _earlier() { COMPREPLY=(earlier); }
    complete -F _earlier cargo
    source "$1"
    source "$1"
    ask() {
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        [[ $(complete -p "$1") =~ -F\ ([^ ]+) ]]
        "${BASH_REMATCH[1]}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[*]}"
    }
    ask cargo cltune sim
    ask cargo-cltune cltune sim
    ask cargo +nightly cltune tune --strat
    ask cargo cltune export --format ""
    ask cargo build --rel
"#;

/// The words that fish proposes, without their descriptions.
const FISH: &str = r#"
    source $argv[2]
    for line in "cargo cltune sim" "cargo-cltune cltune sim" "cargo +nightly cltune tune --strat" \
            "cargo cltune export --format "
        complete -C $line | string replace -r "\t.*" ""
    end
"#;

/// As zsh's own completion of cargo calls it, with `cltune` as the first word.
const ZSH: &str = r#"
    compdef() { }
    source "$1"
    _cargo-cltune-words() { echo "$CURRENT: $words" }
    words=(cltune sim) CURRENT=2
    _cargo-cltune
    words=(cargo-cltune cltune sim) CURRENT=3
    _cargo-cltune
"#;

/// The words that Elvish proposes and that begin like what is typed. Its editor is there in a
/// terminal only, so what the script uses of it is made here, with something that completed cargo
/// before.
const ELVISH: &str = r"
    use str
    var edit: = (ns [
        &completion:=(ns [&arg-completer=[&cargo={|@words| put earlier }]])
        &complex-candidate~={|stem &display='' &code-suffix=''| put $stem }
        &complete-filename~={|@words| put $words[-1]'.file' }
    ])
    for time [1 2] { eval &ns=(ns [&edit:=$edit:]) (slurp < $args[0]) }
    fn ask {|@words|
        var fitting = [($edit:completion:arg-completer[$words[0]] $@words | each {|word|
            if (str:has-prefix $word $words[-1]) { put $word }
        })]
        echo (str:join ' ' $fitting)
    }
    ask cargo cltune sim
    ask cargo-cltune cltune sim
    ask cargo +nightly cltune tune --strat
    ask cargo cltune merge one.lock --out
    ask cargo cltune merge one.lock two
    ask cargo build e
";

fn cltune(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-cltune"));
    let output = command.arg("cltune").args(arguments).output();
    let output = output.expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The script of a shell in a folder of its own.
fn script(shell: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script");
    fs::write(&path, cltune(&["completions", shell])).expect("the script is written");
    (folder, path)
}

fn run(shell: &str, code: &str, script: &Path) -> String {
    let mut command = Command::new(shell);
    let output = command.arg("-c").arg(code).arg(shell).arg(script).output();
    let output = output.expect("the shell starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether a shell is there. `scripts/test --full` installs all, and wants them tested.
fn is_installed(shell: &str) -> bool {
    let installed = Command::new(shell).arg("-c").arg("true").output().is_ok();
    if !installed {
        cltune_tests::skip(&format!("{shell} is not installed"));
    }
    installed
}

#[test]
fn bash_completes_what_cargo_calls_and_what_people_type() {
    let (_folder, path) = script("bash");
    let expected = "simulate\nsimulate\n--strategy\nkernel-tuner t4 csv\nearlier\n";
    assert_eq!(run("bash", BASH, &path), expected);
}

#[test]
fn fish_completes_what_cargo_calls_and_what_people_type() {
    if !is_installed("fish") {
        return;
    }
    let (_folder, path) = script("fish");
    let expected = "simulate\nsimulate\n--strategy\ncsv\nkernel-tuner\nt4\n";
    assert_eq!(run("fish", FISH, &path), expected);
}

#[test]
fn zsh_gets_the_words_that_cargo_calls_with() {
    if !is_installed("zsh") {
        return;
    }
    let (_folder, path) = script("zsh");
    let text = fs::read_to_string(&path).expect("the script was written");
    assert!(text.starts_with("#compdef cargo-cltune\n"), "{text}");
    let expected = "3: cargo-cltune cltune sim\n3: cargo-cltune cltune sim\n";
    assert_eq!(run("zsh", ZSH, &path), expected);
}

/// clap's own completer fails at words that are no commands: at files, and at all other commands of
/// cargo.
#[test]
fn elvish_completes_what_cargo_calls_and_what_people_type() {
    if !is_installed("elvish") {
        return;
    }
    let (folder, path) = script("elvish");
    let ask = folder.path().join("ask.elv");
    fs::write(&ask, ELVISH).expect("the questions are written");
    let output = Command::new("elvish")
        .arg("-norc")
        .arg(ask)
        .arg(path)
        .output();
    let output = output.expect("the shell starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let expected = "simulate\nsimulate\n--strategy\n--output\ntwo.file\nearlier\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn every_script_knows_the_commands_and_their_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = cltune(&["completions", shell]);
        for word in [
            "simulate",
            "stop-when-stagnant",
            "kernel-tuner",
            "cargo-cltune",
        ] {
            let values = ["powershell", "elvish"].contains(&shell) && word == "kernel-tuner";
            assert!(values || text.contains(word), "no {word} for {shell}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man1");
    let written = cltune(&["man", "--output", &out.to_string_lossy()]);
    for command in ["", "-tune", "-check", "-report", "-export", "-man"] {
        let file = out.join(format!("cargo-cltune{command}.1"));
        assert!(written.contains(&*file.to_string_lossy()), "{written}");
        let page = fs::read_to_string(&file).expect("it was written");
        assert!(
            page.contains(".SH SYNOPSIS") && page.contains("cargo cltune"),
            "{page}"
        );
    }
    assert!(!out.join("cargo-cltune-worker.1").exists());
    assert!(cltune(&["man"]).contains("Commit cltune.lock"));
}
