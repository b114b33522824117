//! The programs and the links of README.md, the book in `docs` and the other pages.

use cltune_tests::manifest::{manifest_with_kernels, plain_manifest};
use cltune_tests::{Project, is_left_to_full, tools};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Every Markdown file of the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![tools::repository().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("it is a folder") {
            let path = entry.expect("it can be listed").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if name.ends_with(".md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(page).expect("it is text")
}

/// The program in each block of Rust that is a whole program.
fn programs(page: &str) -> Vec<&str> {
    let blocks = page.split("```rust\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("\n```").next());
    blocks
        .filter(|block| block.contains("\nfn main()"))
        .collect()
}

#[test]
fn every_strategy_has_its_row() {
    let page = read(&tools::repository().join("docs/strategies.md"));
    for strategy in cltune_search::STRATEGIES {
        let name = format!("`{}`", strategy.name);
        let has_row = page.lines().any(|line| {
            let cell = line
                .strip_prefix("| ")
                .and_then(|row| row.split(" | ").next());
            cell.is_some_and(|cell| cell.contains(&name))
        });
        assert!(has_row, "docs/strategies.md has no row for {name}");
    }
}

#[test]
fn the_first_program_of_the_readme_works_at_once_and_tuned() {
    let readme = read(&tools::repository().join("README.md"));
    let program = programs(&readme)[0];
    // As README.md says: no feature is asked for.
    let name = "cltune-e2e-readme";
    let project = Project::empty(name)
        .file("Cargo.toml", plain_manifest(name))
        .file("src/main.rs", program);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["(the first valid configuration)", "y[0] = 5"]);
    let _ = project
        .cltune(&["--device", "0", "--budget", "2", "--problem", "n=1048576"])
        .expect_code(0);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["(tuned on this device for this problem)", "y[0] = 5"]);
}

#[test]
fn the_programs_of_the_book_run_and_can_be_tuned() {
    if is_left_to_full() {
        return;
    }
    let docs = tools::repository().join("docs");
    let texts: Vec<String> = pages()
        .iter()
        .filter(|page| page.starts_with(&docs))
        .map(|page| read(page))
        .collect();
    let programs: Vec<&str> = texts.iter().flat_map(|text| programs(text)).collect();
    assert!(programs.len() >= 2, "{}", programs.len());
    // They are many, and most of what each takes is waiting.
    let next = AtomicUsize::new(0);
    let work = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(program) = programs.get(at)
        {
            runs_and_can_be_tuned(at, program);
        }
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(work);
        }
    });
}

fn runs_and_can_be_tuned(number: usize, program: &str) {
    let name = format!("cltune-e2e-book-{number}");
    let project = Project::new(&name).file("src/main.rs", program);
    if program.contains("use opencl3::") {
        project.edit(
            "Cargo.toml",
            "[dependencies]\n",
            "[dependencies]\nopencl3 = \"0.12\"\n",
        );
    }
    if program.contains("use cltune_kernels::") {
        project.write("Cargo.toml", manifest_with_kernels(&name));
    }
    let _ = project.run().expect_code(0);
    let units = project.cltune(&["units", "--device", "0"]).expect_code(0);
    for unit in units.stdout.lines() {
        let unit: Value = serde_json::from_str(unit).expect("a line is JSON");
        let kernel = unit["kernel"].as_str().expect("a unit has a kernel");
        let sizes = unit["problems"][0]
            .as_object()
            .expect("a problem has sizes");
        // What is declared for users takes a processor minutes.
        let size = |(name, size): (&String, &Value)| {
            let size = size.as_u64().expect("a size is a number");
            format!("{name}={}", size.min(1024))
        };
        let problem: Vec<String> = sizes.iter().map(size).collect();
        let what = ["--kernel", kernel, "--problem", &problem.join(",")];
        let _ = project
            .cltune(&[&["--device", "0", "--budget", "2"], &what[..]].concat())
            .expect_code(0);
    }
}

/// The lines outside of blocks of code, with code spans left out.
fn prose(page: &str) -> String {
    let mut prose = String::new();
    let mut in_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.starts_with("    ") {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    // Between every other pair of backticks.
    let spans = prose.split('`').enumerate();
    spans
        .filter(|(at, _)| at % 2 == 0)
        .map(|(_, text)| text)
        .collect()
}

/// What a page links to, references included.
fn links(prose: &str) -> Vec<&str> {
    let inline = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let references = prose
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
    inline.chain(references.map(|(_, target)| target)).collect()
}

/// The anchors of a page: those of its headings, as GitHub and mdBook make them, and its own.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut anchors = BTreeSet::new();
    let mut in_code = false;
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        if in_code {
            continue;
        }
        for id in line.split("<a id=\"").skip(1) {
            anchors.extend(id.split('"').next().map(str::to_owned));
        }
        let Some(heading) = line
            .strip_prefix('#')
            .map(|line| line.trim_start_matches('#'))
        else {
            continue;
        };
        let heading = heading
            .split("<a ")
            .next()
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        let kept = heading
            .chars()
            .filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign));
        let slug = kept.collect::<String>().replace(' ', "-");
        let before = seen.entry(slug.clone()).or_default();
        anchors.insert(if *before == 0 {
            slug
        } else {
            format!("{slug}-{before}")
        });
        *before += 1;
    }
    anchors
}

#[test]
fn the_links_of_all_pages_lead_somewhere() {
    let mut broken = Vec::new();
    let mut found = 0;
    for page in pages() {
        let prose = prose(&read(&page));
        let targets = links(&prose).into_iter();
        for target in targets.filter(|target| !target.contains("://") && !target.is_empty()) {
            found += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = match path {
                "" => page.clone(),
                path => page.parent().expect("it is in a folder").join(path),
            };
            let is_page = file.extension().is_some_and(|extension| extension == "md");
            let leads = file.exists()
                && (anchor.is_empty() || !is_page || anchors(&read(&file)).contains(anchor));
            if !leads {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(found >= 100, "{found}");
}

#[test]
fn the_book_has_every_page() {
    let docs = tools::repository().join("docs");
    let summary = docs.join("SUMMARY.md");
    let text = read(&summary);
    let linked: BTreeSet<PathBuf> = links(&text).iter().map(|path| docs.join(path)).collect();
    let pages = pages()
        .into_iter()
        .filter(|page| page.starts_with(&docs) && *page != summary);
    let missing: Vec<PathBuf> = pages.filter(|page| !linked.contains(page)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The paths that stand in code quotes in a row of a table; `{a,b}` stands for several.
fn places(row: &str) -> Vec<String> {
    let mut places = Vec::new();
    let quoted = row.split('`').skip(1).step_by(2);
    let is_rust = |name: &str| Path::new(name).extension().is_some_and(|of| of == "rs");
    for name in quoted.filter(|name| is_rust(name) || name.ends_with('/') || name.contains("/{")) {
        match (name.split_once('{'), name.split_once('}')) {
            (Some((before, _)), Some((inside, after))) => {
                let names = inside.split_once('{').map_or("", |(_, names)| names);
                places.extend(
                    names
                        .split(',')
                        .map(|name| format!("{before}{name}{after}")),
                );
            }
            _ => places.push(name.to_owned()),
        }
    }
    places
}

/// A header names what the file holds, so that it can be found by reading first lines.
#[test]
fn the_header_of_a_file_is_no_question() {
    let repository = tools::repository();
    let files = Command::new("git")
        .args(["ls-files", "*.rs"])
        .current_dir(repository)
        .output()
        .expect("git is there");
    let files = String::from_utf8_lossy(&files.stdout).into_owned();
    let is_question = |file: &&str| {
        let text = fs::read_to_string(repository.join(file)).unwrap_or_default();
        let first = text
            .strip_prefix("//! ")
            .and_then(|text| text.split(' ').next());
        first.is_some_and(|word| {
            ["What", "Whether", "Which", "How", "Where", "Who", "Why"].contains(&word)
        })
    };
    let questions: Vec<&str> = files.lines().filter(is_question).collect();
    assert!(files.lines().count() > 300, "{files}");
    assert!(questions.is_empty(), "{questions:?}");
}

#[test]
fn every_place_that_the_design_pages_name_exists() {
    let repository = tools::repository();
    let page = read(&repository.join("docs/design/where.md"));
    let mut missing = Vec::new();
    let mut count = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let places = places(row);
        let Some(first) = places.first() else {
            continue;
        };
        // Later places of a row are said from the first one's crate, from its folder, or from the
        // one above.
        let ancestors: Vec<&Path> = Path::new(first).ancestors().collect();
        for place in &places {
            count += 1;
            let exists = repository.join(place).exists()
                || ancestors.iter().any(|from| {
                    let from = repository.join(from);
                    from.join(place).exists() || from.join("src").join(place).exists()
                });
            if !exists {
                missing.push(format!("`{place}` in: {row}"));
            }
        }
    }
    assert!(count > 100, "{count} places: the page has another form");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
