//! Steps: of a call, of what makes inputs, of the reference.

use super::arguments::KernelArguments;
use super::assemble::Clauses;
use super::formulas::{self, Names, Scopes};
use super::identifiers::text;
use super::memory::nothing;
use super::{memory, names};
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{LocalArg, NamedArray, StageSyntax, StepSyntax, element_type};
use cltune_core::expr::Formula;
use cltune_core::model::{
    self, Access, ArgumentKind, BufferRef, ElementType, Memory, ScalarType, Scratch, Stage,
    StageArgument, Step,
};
use cltune_formats::declaration::Fill;
use cltune_formats::formula::Type;
use proc_macro2::{Ident, Span};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprCast};

/// The purpose of steps, which decides what they may use and write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A call.
    Call,
    /// Making inputs from others.
    Prepare,
    /// Computing what results are compared with.
    Reference,
}

impl Purpose {
    pub(super) fn names(self) -> Names {
        match self {
            Self::Call => Names::All,
            Self::Prepare => Names::NoParameters("inputs are the same for all configurations"),
            Self::Reference => {
                Names::NoParameters("a reference is the same for all configurations")
            }
        }
    }
}

/// Steps as written, with the memory that belongs to them.
pub(super) struct Group<'a> {
    pub(super) steps: &'a [StepSyntax],
    pub(super) scratch: &'a [NamedArray],
    pub(super) locals: &'a [LocalArg],
    /// The clause that they stand in, and where.
    pub(super) clause: (&'static str, Span),
}

/// Steps that were checked.
pub(super) struct Checked {
    pub(super) scratch: Vec<Scratch>,
    pub(super) steps: Vec<Step>,
    /// The names of arguments and memory that some step takes.
    pub(super) used: HashSet<String>,
}

impl Group<'_> {
    pub(super) fn check(
        &self,
        purpose: Purpose,
        clauses: Clauses<'_>,
        kernel: &KernelArguments,
        errors: &mut Errors,
    ) -> Checked {
        let scopes = clauses.scopes;
        for before in self.locals.iter().filter_map(|local| local.before.as_ref()) {
            let message = "each stage lists its arguments in order, local memory by its name; leave \
                           `before` out";
            errors.add(before.span(), message);
        }
        let names = purpose.names();
        let scratch = memory::scratch(self.scratch, names, scopes, &kernel.arguments, errors);
        let is_own = purpose != Purpose::Call;
        memory::check_locals(self.locals, is_own, &kernel.arguments, &scratch, errors);
        let mut checker = Checker {
            purpose,
            scopes,
            arguments: &kernel.arguments,
            fills: &kernel.fills,
            scratch: &scratch,
            locals: self.locals,
            used: HashSet::new(),
            launches: false,
        };
        let steps = checker.steps(self.steps, scopes, errors);
        let (used, launches) = (checker.used, checker.launches);
        let (clause, span) = self.clause;
        if !launches && clauses.grammatical {
            errors.add(span, format!("`{clause}` needs a `stage(…)`, a launch"));
        }
        Checked {
            scratch,
            steps,
            used,
        }
    }

    /// Reports memory of its own that no step takes.
    pub(super) fn report_unused(&self, used: &HashSet<String>, errors: &mut Errors) {
        let own = self.scratch.iter().map(|scratch| &scratch.name);
        for name in own.chain(self.locals.iter().map(|local| &local.array.name)) {
            if !used.contains(&name.unraw().to_string()) {
                errors.add(name.span(), format!("no stage takes `{name}`"));
            }
        }
    }
}

struct Checker<'a> {
    purpose: Purpose,
    /// The names that sizes and lengths may use: no rounds.
    scopes: &'a Scopes,
    arguments: &'a [model::Argument],
    /// One for each of them.
    fills: &'a [Fill],
    scratch: &'a [Scratch],
    locals: &'a [LocalArg],
    /// The names that some step has taken.
    used: HashSet<String>,
    /// Whether there is any stage.
    launches: bool,
}

impl Checker<'_> {
    /// The steps; `rounds` has the names of the rounds around them besides.
    fn steps(&mut self, steps: &[StepSyntax], rounds: &Scopes, errors: &mut Errors) -> Vec<Step> {
        let steps = steps.iter();
        steps
            .filter_map(|step| self.step(step, rounds, errors))
            .collect()
    }

    fn step(&mut self, step: &StepSyntax, rounds: &Scopes, errors: &mut Errors) -> Option<Step> {
        match step {
            StepSyntax::Launch(stage) => {
                self.launches = true;
                Some(Step::Launch(self.stage(stage, rounds, errors)))
            }
            StepSyntax::Clear { buffer, when } => {
                let when = self.condition(when.as_ref(), rounds, errors);
                let (buffer, _) = self.written_buffer(buffer, errors)?;
                Some(Step::Clear { buffer, when })
            }
            StepSyntax::Copy { from, to, when } => {
                let when = self.condition(when.as_ref(), rounds, errors);
                let (from, from_element) = self.buffer(from, errors)?;
                let (target, element) = self.written_buffer(to, errors)?;
                different_buffers(to, from == target, errors);
                same_element(to, from_element, element, errors);
                Some(Step::Copy {
                    from,
                    to: target,
                    when,
                })
            }
            StepSyntax::Swap { buffers: [a, b] } => {
                let (first, first_element) = self.written_buffer(a, errors)?;
                let (second, element) = self.written_buffer(b, errors)?;
                different_buffers(b, first == second, errors);
                same_element(b, first_element, element, errors);
                Some(Step::Swap {
                    buffers: [first, second],
                })
            }
            StepSyntax::Repeat {
                round,
                count,
                steps,
            } => {
                if let Some(reason) = self.name_is_taken(round, rounds) {
                    errors.add(
                        round.span(),
                        format!("the name `{round}` is taken by {reason}"),
                    );
                }
                let count = rounds.formula(count, Type::Int, self.purpose.names(), errors);
                let steps = self.steps(steps, &rounds.in_round(round), errors);
                Some(Step::Repeat {
                    round: text(round),
                    count: count.unwrap_or_else(nothing),
                    steps: steps.into(),
                })
            }
        }
    }

    fn condition(
        &self,
        when: Option<&Expr>,
        rounds: &Scopes,
        errors: &mut Errors,
    ) -> Option<Formula> {
        let when = when?;
        let formula = rounds.formula(when, Type::Bool, self.purpose.names(), errors)?;
        if let Some(Ok(0)) = formulas::constant(&formula) {
            let message = "this condition is never true, so the step is never done";
            errors.push(syn::Error::new_spanned(when, message));
        }
        Some(formula)
    }

    fn name_is_taken(&self, round: &Ident, rounds: &Scopes) -> Option<&'static str> {
        let is = |name: &str| round.unraw() == name;
        let parameters = rounds.parameters();
        if parameters.iter().any(|parameter| is(&parameter.name)) {
            Some("a parameter")
        } else if rounds.dimensions().iter().any(|name| is(name)) {
            Some("a problem dimension or a round")
        } else if self.arguments.iter().any(|argument| is(&argument.name)) {
            Some("an argument")
        } else {
            None
        }
    }

    fn stage(&mut self, syntax: &StageSyntax, rounds: &Scopes, errors: &mut Errors) -> Stage {
        let kernel = &syntax.kernel;
        match self.purpose.names() {
            Names::NoParameters(reason) if kernel.text.contains('{') => {
                let message = format!("the kernel's name uses no parameter here: {reason}");
                errors.add(kernel.span, message);
            }
            _ => {
                let parameters = self.scopes.parameters();
                names::check_kernel_pattern(&kernel.text, kernel.span, parameters, errors);
            }
        }
        let mut arguments = Vec::new();
        for argument in &syntax.arguments {
            arguments.extend(self.argument(argument, rounds, errors));
        }
        let sizes = |clause: &Option<_>, errors: &mut Errors| {
            let Some(clause) = clause else {
                return Vec::new();
            };
            formulas::check_rank(clause, syntax.global.as_ref(), errors);
            formulas::sizes(
                clause,
                &rounds.without_rounds(),
                self.purpose.names(),
                errors,
            )
        };
        if syntax.global.is_none() {
            let message = "the stage has no `global(…)`: the global size in work-items, for example \
                           `global(n)`";
            errors.add(kernel.span, message);
        }
        let local_memory = syntax.local_memory.as_ref();
        Stage {
            kernel: kernel.text.clone().into(),
            when: self.condition(syntax.when.as_ref(), rounds, errors),
            global: sizes(&syntax.global, errors).into(),
            local: sizes(&syntax.local, errors).into(),
            offset: sizes(&syntax.offset, errors).into(),
            local_memory: formulas::single(
                local_memory,
                &rounds.without_rounds(),
                self.purpose.names(),
                errors,
            ),
            arguments: arguments.into(),
        }
    }

    /// An argument of a stage's kernel: a name, or a scalar that is computed.
    fn argument(
        &mut self,
        expr: &Expr,
        rounds: &Scopes,
        errors: &mut Errors,
    ) -> Option<StageArgument> {
        if let Expr::Group(group) = expr {
            return self.argument(&group.expr, rounds, errors);
        }
        if let Expr::Cast(ExprCast {
            expr: value, ty, ..
        }) = expr
        {
            let scalar = errors.take(computed_type(ty));
            if let Some(short @ (ScalarType::F16 | ScalarType::BF16)) = scalar {
                let message = format!(
                    "a computed scalar cannot be of type `{}`: use `f32`",
                    short.rust_name()
                );
                errors.add(ty.span(), message);
                return None;
            }
            let value = unparenthesised(value);
            let value = rounds.formula(value, Type::Int, self.purpose.names(), errors);
            return Some(StageArgument::Value {
                scalar: scalar?,
                value: value?,
            });
        }
        let name = match expr {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let Some(name) = name else {
            let message = "a computed scalar says its type: put it in parentheses and cast it, for \
                           example `(n / WG) as u32`";
            errors.push(syn::Error::new_spanned(expr, message));
            return None;
        };
        let local = self.locals.iter().find(|local| local.array.name == *name);
        if let Some(local) = local {
            self.used.insert(name.unraw().to_string());
            let element = errors.take(element_type(&local.array.element));
            let sizes = rounds.without_rounds();
            let len = sizes.formula(&local.array.len, Type::Int, self.purpose.names(), errors);
            return Some(StageArgument::Local {
                name: text(&local.array.name),
                element: element?,
                len: len?,
            });
        }
        if let Some(found) = self.position(name) {
            self.used.insert(name.unraw().to_string());
            self.refuse_output(name, found, errors);
            return Some(match found {
                BufferRef::Passed(position) => StageArgument::Passed(position),
                BufferRef::Scratch(position) => StageArgument::Scratch(position),
            });
        }
        if self.scopes.is_complete() {
            let is_number = rounds
                .dimensions()
                .iter()
                .any(|known| name.unraw() == **known)
                || self
                    .scopes
                    .parameters()
                    .iter()
                    .any(|known| name.unraw() == *known.name);
            let message = if is_number {
                format!(
                    "`{name}` is a number without a type: write `{name} as u32` or another type"
                )
            } else {
                let (arguments, scratch) = self.known(|_| true);
                let locals = self
                    .locals
                    .iter()
                    .map(|local| local.array.name.unraw().to_string());
                let known = arguments.into_iter().chain(scratch).chain(locals);
                unknown(
                    name,
                    "argument, scratch buffer or local memory",
                    known.collect(),
                )
            };
            errors.add(name.span(), message);
        }
        None
    }

    /// The position of an argument or a scratch buffer.
    fn position(&self, name: &Ident) -> Option<BufferRef> {
        let unraw = name.unraw();
        let passed = self
            .arguments
            .iter()
            .position(|argument| unraw == *argument.name);
        let scratch = || {
            self.scratch
                .iter()
                .position(|scratch| unraw == *scratch.name)
        };
        match passed {
            Some(position) => u16::try_from(position).ok().map(BufferRef::Passed),
            None => u16::try_from(scratch()?).ok().map(BufferRef::Scratch),
        }
    }

    /// The names of the arguments of these kinds, and of the scratch buffers.
    fn known(&self, is_meant: impl Fn(&ArgumentKind) -> bool) -> (Vec<String>, Vec<String>) {
        let arguments = self.arguments.iter();
        let arguments = arguments.filter(|argument| is_meant(&argument.kind));
        let scratch = self.scratch.iter();
        (
            arguments
                .map(|argument| argument.name.to_string())
                .collect(),
            scratch.map(|scratch| scratch.name.to_string()).collect(),
        )
    }

    /// Refuses an image where a step needs a buffer.
    fn refuse_image(&self, name: &Ident, buffer: BufferRef, errors: &mut Errors) {
        let BufferRef::Passed(position) = buffer else {
            return;
        };
        let argument = self.arguments.get(usize::from(position));
        if let Some(ArgumentKind::Buffer {
            memory: Memory::Image(_),
            ..
        }) = argument.map(|argument| &argument.kind)
        {
            let message = format!(
                "`{name}` is an image: `clear`, `copy` and `swap` are for buffers, and an image is \
                 cleared or copied by a kernel"
            );
            errors.add(name.span(), message);
        }
    }

    /// A buffer of a step, and its element.
    fn buffer(&mut self, name: &Ident, errors: &mut Errors) -> Option<(BufferRef, ElementType)> {
        let found = self.position(name);
        let element = found.and_then(|found| match found {
            BufferRef::Scratch(position) => Some(self.scratch.get(usize::from(position))?.element),
            BufferRef::Passed(position) => match self.arguments.get(usize::from(position))?.kind {
                ArgumentKind::Buffer { element, .. } => Some(element),
                ArgumentKind::Scalar { .. } => None,
            },
        });
        let buffer = found.zip(element);
        if let Some((found, _)) = buffer {
            self.used.insert(name.unraw().to_string());
            self.refuse_output(name, found, errors);
            self.refuse_image(name, found, errors);
        } else if self.scopes.is_complete() {
            let is_buffer = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Buffer { .. });
            let (arguments, scratch) = self.known(is_buffer);
            let known = arguments.into_iter().chain(scratch).collect();
            errors.add(name.span(), unknown(name, "buffer", known));
        }
        buffer
    }

    /// A buffer that a step writes.
    fn written_buffer(
        &mut self,
        name: &Ident,
        errors: &mut Errors,
    ) -> Option<(BufferRef, ElementType)> {
        let (buffer, element) = self.buffer(name, errors)?;
        let BufferRef::Passed(position) = buffer else {
            return Some((buffer, element));
        };
        let position = usize::from(position);
        let access = access(&self.arguments[position]);
        let is_prepared = self.fills[position] == Fill::Prepared;
        if self.purpose != Purpose::Prepare && access == Some(Access::Read) {
            let message = format!("this writes `{name}`: make it `{name}: &mut Buffer<…>`");
            errors.add(name.span(), message);
        } else if self.purpose == Purpose::Prepare && access != Some(Access::Write) && !is_prepared
        {
            let message = format!(
                "this writes `{name}`, and `prepare` writes only its own scratch buffers and \
                 arguments with `#[arg(fill = prepared)]`"
            );
            errors.add(name.span(), message);
        }
        Some((buffer, element))
    }

    /// What makes inputs takes no output: nothing is in it yet.
    fn refuse_output(&self, name: &Ident, found: BufferRef, errors: &mut Errors) {
        let BufferRef::Passed(position) = found else {
            return;
        };
        let access = access(&self.arguments[usize::from(position)]);
        if self.purpose == Purpose::Prepare && access == Some(Access::Write) {
            let message = format!("`prepare` makes inputs, and `{name}` is an output");
            errors.add(name.span(), message);
        }
    }
}

fn access(argument: &model::Argument) -> Option<Access> {
    match argument.kind {
        ArgumentKind::Buffer { access, .. } => Some(access),
        ArgumentKind::Scalar { .. } => None,
    }
}

fn unknown(name: &Ident, what: &str, known: Vec<String>) -> String {
    let near = did_you_mean(&name.to_string(), known.iter().map(String::as_str));
    format!(
        "there is no {what} `{name}`{near}; there are {}",
        quoted(known)
    )
}

/// The type of a computed scalar.
fn computed_type(ty: &syn::Type) -> syn::Result<ScalarType> {
    let element = element_type(ty)?;
    element.as_scalar().ok_or_else(|| {
        let message = "a computed value is a scalar: the kernel makes vectors of scalars";
        syn::Error::new_spanned(ty, message)
    })
}

/// A cast's operand without the parentheses that it needs in Rust.
fn unparenthesised(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => &paren.expr,
        other => other,
    }
}

fn different_buffers(at: &Ident, are_same: bool, errors: &mut Errors) {
    if are_same {
        errors.add(at.span(), format!("both buffers are `{at}`"));
    }
}

fn same_element(at: &Ident, one: ElementType, other: ElementType, errors: &mut Errors) {
    if one != other {
        let message = format!(
            "`{at}` has elements of type `{}` and the other buffer of type `{}`",
            other.rust_name(),
            one.rust_name()
        );
        errors.add(at.span(), message);
    }
}
