//! The parts of a program between calls of a library: each is a program and a tunable of its own,
//! with the arguments that it uses.

use super::item::{FusedItem, typed};
use super::library::Gemms;
use super::matrices::{Matrices, pieces};
use super::program::{Action, Operand, Place, Program, Statement};
use super::tokens::names;
use super::value::{Kind, Value};
use cltune_core::model::ScalarType;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Meta, PatType, Path, parse_quote};

/// What a function does, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The part at this position.
    Part(usize),
    /// The call at this position of the program's.
    Call(usize),
}

/// Statements that are a tunable.
pub(super) struct Part {
    pub(super) program: Program,
    /// The function for them.
    pub(super) item: FusedItem,
    /// The names of its arguments after the queue.
    pub(super) arguments: Vec<Ident>,
}

/// The steps of a program, and the statements of each part.
pub(super) fn steps(program: &Program) -> (Vec<Step>, Vec<Range<usize>>) {
    let mut steps = Vec::new();
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (at, statement) in program.statements.iter().enumerate() {
        match (statement.action, parts.last_mut()) {
            (Action::Call(call), _) => steps.push(Step::Call(call)),
            (_, Some(part)) if part.end == at => part.end += 1,
            _ => {
                steps.push(Step::Part(parts.len()));
                parts.push(at..at + 1);
            }
        }
    }
    (steps, parts)
}

/// The function of a part, counted from 1 on.
pub(super) fn name(number: usize) -> Ident {
    format_ident!("part_{number}")
}

/// The arguments by value that neither parts nor calls compute with.
pub(super) fn unused_values(program: &Program) -> Vec<String> {
    let read = program.statements.iter().map(|statement| &statement.value);
    let factors = program.calls.iter().map(|call| &call.alpha);
    let of_targets = program.calls.iter().filter_map(|call| call.beta.as_ref());
    let all = read.chain(factors).chain(of_targets);
    let used: BTreeSet<usize> = all.flat_map(Value::operands).collect();
    let operands = program.operands.iter().enumerate();
    operands
        .filter(|(at, operand)| operand.place == Place::Value && !used.contains(at))
        .map(|(_, operand)| operand.name.clone())
        .collect()
}

/// The names that clauses of the attribute use, besides those of `tune`, which is about each part
/// as far as it has the dimensions.
pub(super) fn names_in_clauses(attribute: &TokenStream) -> Vec<Ident> {
    let clauses = pieces(attribute.clone()).into_iter();
    let names = clauses.map(names);
    let others = names.filter(|names| names.first().is_some_and(|word| word != "tune"));
    others.flatten().collect()
}

/// The part that statements are. `also` are names that clauses of the attribute use.
pub(super) fn part(
    item: &FusedItem,
    program: &Program,
    statements: Range<usize>,
    name: &Ident,
    krate: &Path,
    also: &[Ident],
) -> Part {
    let statements = &program.statements[statements];
    let mut used: BTreeSet<usize> = BTreeSet::new();
    for statement in statements {
        used.insert(statement.target);
        used.extend(statement.value.operands());
    }
    for operand in used.clone() {
        used.extend(program.operands[operand].layout.operands(program));
    }
    let typed = || item.signature.inputs.iter().filter_map(typed);
    let is_number = |operand: &usize| program.operands[*operand].place == Place::Value;
    let mut named: Vec<Ident> = also.to_vec();
    for (argument, pattern) in typed() {
        let operand = program.operand(&pattern.unraw());
        if operand.is_some_and(|operand| used.contains(&operand)) {
            let attributes = argument.attrs.iter();
            named.extend(attributes.flat_map(|attribute| names(attribute.to_token_stream())));
        }
    }
    let named = named
        .iter()
        .filter_map(|name| program.operand(&name.unraw()));
    used.extend(named.filter(is_number));

    let renumbered: BTreeMap<usize, usize> = used.iter().copied().zip(0..).collect();
    let operands = used.iter().map(|at| {
        let mut operand = program.operands[*at].clone();
        if let Place::Buffer { out, .. } = operand.place {
            operand.place = Place::Buffer {
                mutable: statements.iter().any(|statement| statement.target == *at),
                out: out && !is_read_first(statements, *at),
            };
        }
        operand
    });
    let operands: Vec<Operand> = operands.collect();
    let statements: Vec<Statement> = statements.to_vec();
    let statements = statements.into_iter().map(|mut statement| {
        statement.target = renumbered[&statement.target];
        statement.value.change(&|value| {
            if let Kind::Operand(at) | Kind::Element(at, _) = &mut value.kind {
                *at = renumbered[at];
            }
        });
        statement
    });
    let part = Program {
        operands,
        lengths: program.lengths.clone(),
        statements: statements.collect(),
        calls: Vec::new(),
        named: program.named.clone(),
        unused: Vec::new(),
        overwritten: Vec::new(),
        while_tuning: program.while_tuning.clone(),
    };
    let mut arguments = Vec::new();
    let mut inputs: Vec<FnArg> = Vec::new();
    for (argument, pattern) in typed() {
        match program.operand(&pattern.unraw()) {
            Some(operand) => {
                if let Some(operand) = renumbered.get(&operand) {
                    inputs.push(passed(argument, &part.operands[*operand], krate));
                    arguments.push(pattern.clone());
                }
            }
            // The queue.
            None => inputs.push(parse_quote!(#pattern: &#krate::Queue)),
        }
    }
    let texts = part.statements.iter().map(|it| it.text.as_str());
    let mut texts: Vec<&str> = texts.collect();
    texts.dedup();
    let about = format!(
        "Of the statements of `{}`: `{}`",
        item.signature.ident.unraw(),
        texts.join(" ")
    );
    let signature: syn::Signature =
        parse_quote!(fn #name(#(#inputs),*) -> #krate::Result<#krate::Event>);
    Part {
        program: part,
        item: FusedItem {
            attributes: vec![parse_quote!(#[doc = #about])],
            visibility: parse_quote!(pub),
            whole: signature.clone(),
            signature,
            matrices: Matrices::default(),
            gemms: Gemms::default(),
            body: None,
        },
        arguments,
    }
}

/// Whether statements read what was in an operand before them.
fn is_read_first(statements: &[Statement], operand: usize) -> bool {
    for statement in statements {
        if statement.value.operands().contains(&operand) {
            return true;
        }
        if statement.target == operand {
            return false;
        }
    }
    false
}

/// The argument of a part, with a type that means the same in a module.
fn passed(argument: &PatType, operand: &Operand, krate: &Path) -> FnArg {
    let pattern = &argument.pat;
    let scalar = format_ident!("{}", operand.scalar.rust_name());
    let scalar: TokenStream = if operand.scalar == ScalarType::F16 {
        quote!(#krate::#scalar)
    } else {
        quote!(::core::primitive::#scalar)
    };
    let Place::Buffer { mutable, out } = operand.place else {
        let attributes = &argument.attrs;
        return parse_quote!(#(#attributes)* #pattern: #scalar);
    };
    let is_kept = |word: &Ident| (word != "out" || out) && (word != "compare" || mutable);
    let attributes = argument
        .attrs
        .iter()
        .map(|attribute| with(attribute, is_kept));
    let mutable = mutable.then(|| quote!(mut));
    parse_quote!(#(#attributes)* #pattern: &#mutable #krate::Buffer<#scalar>)
}

/// `#[arg(…)]` without some words.
fn with(attribute: &Attribute, is_kept: impl Fn(&Ident) -> bool) -> Attribute {
    let mut attribute = attribute.clone();
    if let Meta::List(list) = &mut attribute.meta
        && list.path.is_ident("arg")
    {
        let kept = pieces(list.tokens.clone()).into_iter().filter(|piece| {
            match piece.clone().into_iter().next() {
                Some(TokenTree::Ident(word)) => is_kept(&word),
                _ => true,
            }
        });
        list.tokens = quote!(#(#kept),*);
    }
    attribute
}
