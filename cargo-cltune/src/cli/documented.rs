//! Tests of the command lines that people copy: in `--help`, the workflow and the documentation.

use super::{Cargo, examples};
use clap::Parser as _;
use clap::error::ErrorKind;
use std::fs;
use std::path::{Path, PathBuf};

/// The command lines in a text: from `cargo cltune` to what no command line has.
fn command_lines(text: &str) -> Vec<String> {
    let text = text.replace("cargo-cltune cltune", "cargo cltune");
    let lines = text.lines().filter_map(|line| {
        let line = &line[line.find("cargo cltune")?..];
        let ends = ["  ", " > ", " >> ", " | ", " # ", "`", "$("].iter();
        let end = ends.filter_map(|end| line.find(end)).min();
        Some(line[..end.unwrap_or(line.len())].to_owned())
    });
    lines.collect()
}

/// The words of a line, as a shell takes them; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (letter, quote) {
            (' ', None) => words.push(String::new()),
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(end)) if letter == end => quote = None,
            _ => words
                .last_mut()
                .into_iter()
                .for_each(|word| word.push(letter)),
        }
    }
    words
}

fn parse(line: &str) -> Result<(), clap::Error> {
    match Cargo::try_parse_from(words(line)) {
        Err(error) if error.exit_code() != 0 => Err(error),
        _ => Ok(()),
    }
}

/// README.md, what is beside it, and every page of the book in `docs`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("docs")];
    let mut files: Vec<PathBuf> = entries(&root).collect();
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                files.push(entry);
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path())
}

#[test]
fn the_examples_are_command_lines() {
    for text in examples::ALL {
        let lines = command_lines(text);
        assert!(!lines.is_empty(), "{text}");
        for line in lines {
            assert!(line.contains('…') || parse(&line).is_ok(), "{line}");
        }
    }
}

#[test]
fn the_commands_of_the_workflow_example_are_command_lines() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples/check.yml");
    let text = fs::read_to_string(file).unwrap();
    let steps = text.lines().filter(|line| line.contains("run: "));
    let lines = command_lines(&steps.collect::<Vec<_>>().join("\n"));
    assert!(lines.iter().any(|line| line.contains("check")), "{lines:?}");
    for line in lines {
        parse(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn the_commands_to_copy_from_the_documentation_are_command_lines() {
    let mut found = 0;
    for file in documents() {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("\\\n    ", "").replace("\\\n", "");
        let copied = text.lines().filter(|line| line.starts_with("    "));
        let lines = command_lines(&copied.collect::<Vec<_>>().join("\n"));
        for line in lines.iter().filter(|line| !line.contains('…')) {
            found += 1;
            parse(line).unwrap_or_else(|error| panic!("{}: {line}: {error}", file.display()));
        }
    }
    assert!(found >= 20, "{found}");
}

/// In running text parts may be missing, or stand for something: `merge`, `completions SHELL`,
/// `[tune]`.
#[test]
fn the_commands_in_the_documentations_text_exist_with_their_options() {
    let mut found = 0;
    for file in documents() {
        let text = fs::read_to_string(&file).unwrap().replace('\n', " ");
        let spans = text.split('`').skip(1).step_by(2);
        for span in spans.filter(|span| span.starts_with("cargo cltune")) {
            found += 1;
            let line = span.split(" > ").next().unwrap_or_default();
            let line = match line.split_once('[') {
                Some((before, _)) => before.trim_end(),
                None => line,
            };
            let stands_for = words(line).iter().any(|word| {
                word.len() > 3 && word.chars().all(|letter| letter.is_ascii_uppercase())
            });
            let Err(error) = parse(line) else { continue };
            let may_be = match error.kind() {
                ErrorKind::MissingRequiredArgument
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => true,
                ErrorKind::InvalidValue
                | ErrorKind::ValueValidation
                | ErrorKind::InvalidSubcommand => stands_for,
                _ => false,
            };
            assert!(may_be, "{}: {line}: {error}", file.display());
        }
    }
    assert!(found >= 40, "{found}");
}
