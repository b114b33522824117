//! The public items of the run time are those of a committed list, so that a reviewer sees a
//! change; and what their signatures mention is exported, too. After a change that is meant:
//!
//! `UPDATE_PUBLIC_ITEMS=1 cargo test -p cltune-runtime --test public_items`

use quote::ToTokens as _;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

/// Types that signatures may mention without this crate exporting them: the standard library's,
/// opencl3's, and generic parameters.
const FOREIGN: &[&str] = &[
    "Box",
    "Codes",
    "CommandQueue",
    "Copy",
    "Cow",
    "Debug",
    "Default",
    "Deref",
    "DerefMut",
    "Display",
    "Drop",
    "Duration",
    "E",
    "Eq",
    "Error",
    "F",
    "Fn",
    "FnOnce",
    "FromStr",
    "Into",
    "Item",
    "Iterator",
    "Kept",
    "M",
    "N",
    "Option",
    "P",
    "PartialEq",
    "Path",
    "PathBuf",
    "Q",
    "Range",
    "Result",
    "S",
    "Sealed",
    "Self",
    "Send",
    "Sized",
    "String",
    "Sync",
    "T",
    "Value",
    "Vec",
];

/// Names of `cltune-core` that generated code alone uses, in items that are hidden from the
/// documentation.
const GENERATED: &[&str] = &["Model", "Table"];

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All items of a crate's sources, with the file that each is in.
fn items(source: &Path) -> Vec<(PathBuf, Item)> {
    let mut items = Vec::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("a folder of sources")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|of| of == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                let file = syn::parse_file(&text).expect("it compiles, so it is Rust");
                items.extend(file.items.into_iter().map(|item| (path.clone(), item)));
            }
        }
    }
    items
}

/// The names that a `use` brings, each with its path.
fn leaves(tree: &UseTree, path: &str, found: &mut Vec<(String, String, String)>) {
    match tree {
        UseTree::Path(inner) => leaves(&inner.tree, &format!("{path}{}::", inner.ident), found),
        UseTree::Name(name) => {
            found.push((
                path.to_owned(),
                name.ident.to_string(),
                name.ident.to_string(),
            ));
        }
        UseTree::Rename(name) => {
            found.push((
                path.to_owned(),
                name.ident.to_string(),
                name.rename.to_string(),
            ));
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, path, found);
            }
        }
        UseTree::Glob(_) => panic!("`pub use {path}*` hides what is public; name the items"),
    }
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let text = |of: &Attribute| of.to_token_stream().to_string();
    attributes
        .iter()
        .map(text)
        .any(|of| of == "# [doc (hidden)]")
}

fn marks(attributes: &[Attribute]) -> String {
    let text = attributes.iter().map(|of| of.to_token_stream().to_string());
    let marks = text.filter(|of| of.contains("cfg") || of.contains("non_exhaustive"));
    marks.map(|of| of + " ").collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn fields(fields: &Fields, of_enum: bool) -> String {
    let shown = fields.iter().filter(|of| of_enum || is_public(&of.vis));
    let text = shown.map(|field| {
        let name = field.ident.as_ref().map(|name| format!("{name}: "));
        format!(
            " {}{},",
            name.unwrap_or_default(),
            field.ty.to_token_stream()
        )
    });
    text.collect::<Vec<_>>().concat()
}

/// The lines of an item of this name.
fn lines(all: &[(PathBuf, Item)], name: &str, shown: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (_, item) in all {
        match item {
            Item::Struct(of) if of.ident == name && is_public(&of.vis) => {
                let generics = of.generics.to_token_stream();
                let marks = marks(&of.attrs);
                lines.push(format!(
                    "{marks}struct {shown}{generics}{}",
                    fields(&of.fields, false)
                ));
            }
            Item::Enum(of) if of.ident == name && is_public(&of.vis) => {
                lines.push(format!("{}enum {shown}", marks(&of.attrs)));
                for variant in &of.variants {
                    let fields = fields(&variant.fields, true);
                    lines.push(format!("{shown}::{}{fields}", variant.ident));
                }
            }
            Item::Type(of) if of.ident == name && is_public(&of.vis) => {
                lines.push(format!("type {shown} = {}", of.ty.to_token_stream()));
            }
            Item::Fn(of) if of.sig.ident == name && is_public(&of.vis) => {
                lines.push(of.sig.to_token_stream().to_string());
            }
            Item::Trait(of) if of.ident == name && is_public(&of.vis) => {
                lines.push(format!(
                    "trait {shown}: {}",
                    of.supertraits.to_token_stream()
                ));
                for item in &of.items {
                    match item {
                        TraitItem::Fn(of) => {
                            lines.push(format!("{shown}: {}", of.sig.to_token_stream()));
                        }
                        TraitItem::Const(of) => {
                            lines.push(format!(
                                "{shown}: const {}: {}",
                                of.ident,
                                of.ty.to_token_stream()
                            ));
                        }
                        _ => {}
                    }
                }
            }
            Item::Impl(of) => {
                let ty = of.self_ty.to_token_stream().to_string();
                if ty.split([' ', '<']).next() != Some(name) {
                    continue;
                }
                if let Some((path, _)) = &of.trait_ {
                    lines.push(format!("impl {} for {shown}", path.to_token_stream()));
                    continue;
                }
                for item in &of.items {
                    match item {
                        ImplItem::Fn(of) if is_public(&of.vis) && !is_hidden(&of.attrs) => {
                            let marks = marks(&of.attrs);
                            lines.push(format!("{marks}{shown}: {}", of.sig.to_token_stream()));
                        }
                        ImplItem::Const(of) if is_public(&of.vis) && !is_hidden(&of.attrs) => {
                            lines.push(format!(
                                "{shown}: const {}: {}",
                                of.ident,
                                of.ty.to_token_stream()
                            ));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    lines
}

#[test]
fn the_public_items_are_those_of_the_list() {
    let own = items(&package().join("src"));
    let core = items(&package().join("../cltune-core/src"));
    let formats = items(&package().join("../cltune-formats/src"));
    // Of the crate's root, and of its public modules that are not hidden.
    let root = |path: &Path, module: &str| path == package().join(format!("src/{module}"));
    let mut modules = vec![("lib.rs".to_owned(), String::new())];
    for (path, item) in &own {
        if let Item::Mod(of) = item
            && root(path, "lib.rs")
            && is_public(&of.vis)
            && !is_hidden(&of.attrs)
        {
            modules.push((format!("{}/mod.rs", of.ident), format!("{}::", of.ident)));
        }
    }
    let mut exported: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, prefix) in &modules {
        let uses = own.iter().filter_map(|(path, item)| match item {
            Item::Use(of) if root(path, file) && is_public(&of.vis) && !is_hidden(&of.attrs) => {
                Some(of)
            }
            _ => None,
        });
        for of in uses {
            let mut found = Vec::new();
            leaves(&of.tree, "", &mut found);
            for (path, name, shown) in found {
                let shown = format!("{prefix}{shown}");
                let of_crate = match path.split("::").next() {
                    Some("cltune_core") => &core,
                    Some("cltune_formats") => &formats,
                    _ => &own,
                };
                let mut lines = lines(of_crate, &name, &shown);
                lines.sort();
                lines.dedup();
                lines.insert(0, format!("{}use {path}{name}", marks(&of.attrs)));
                exported.insert(shown, lines);
            }
        }
    }
    let text = exported
        .iter()
        .map(|(name, lines)| format!("{name}\n    {}\n", lines.join("\n    ")));
    let text = text.collect::<Vec<_>>().concat();
    let list = package().join("tests/public_items.txt");
    if std::env::var_os("UPDATE_PUBLIC_ITEMS").is_some() {
        fs::write(&list, &text).expect("written");
    }
    let committed = fs::read_to_string(&list).unwrap_or_default();
    let (now, before): (BTreeSet<&str>, BTreeSet<&str>) =
        (text.lines().collect(), committed.lines().collect());
    let gone: Vec<_> = before.difference(&now).collect();
    let new: Vec<_> = now.difference(&before).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "public items have changed; if that is meant, add a line to CHANGELOG.md and run\n    \
         UPDATE_PUBLIC_ITEMS=1 cargo test -p cltune-runtime --test public_items\n\
         gone: {gone:#?}\nnew: {new:#?}"
    );

    let names: BTreeSet<&str> = exported
        .keys()
        .map(|name| name.rsplit("::").next().unwrap_or(name))
        .collect();
    let mut missing = BTreeSet::new();
    for (name, lines) in &exported {
        for line in lines
            .iter()
            .filter(|line| !line.contains("impl ") && !line.contains("use "))
        {
            let signature = line
                .split_once(&format!("{name}::"))
                .map_or(line.as_str(), |(_, rest)| {
                    rest.split_once(' ').map_or("", |(_, fields)| fields)
                });
            let words =
                signature.split(|of: char| !of.is_alphanumeric() && of != '_' && of != '\'');
            for word in words.filter(|word| word.starts_with(|of: char| of.is_ascii_uppercase())) {
                let is_constant = word.chars().all(|of| !of.is_lowercase()) && word.len() > 1;
                if !names.contains(word)
                    && !FOREIGN.contains(&word)
                    && !GENERATED.contains(&word)
                    && !is_constant
                {
                    missing.insert(format!("`{word}`, in `{line}`"));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "public signatures mention what is not exported:\n{missing:#?}"
    );
}
