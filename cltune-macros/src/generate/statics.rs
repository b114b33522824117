//! Core values as constant expressions. They stand in a block that imports the core's names, see
//! [`model`].

use super::context::Context;
use super::structs;
use cltune_core::expr::{Formula, Op};
use cltune_core::model::{
    Access, Argument, ArgumentKind, BufferRef, ElementType, ImageDeclaration, Memory, Model,
    ScalarType, StageArgument, Step, Template,
};
use cltune_core::parameter::{Domain, Parameter, RealRange, Scale};
use cltune_core::{List, Text};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// The model.
pub(super) fn model(model: &Model, context: &Context<'_>) -> TokenStream {
    let krate = context.krate;
    let Model {
        name,
        fingerprint,
        source,
        options,
        parameters,
        dimensions,
        constraints,
        defines,
        arguments,
        scratch,
        steps,
        default,
        template,
    } = model;
    let [name, source] = [name, source].map(text);
    let fingerprint = structs::fingerprint(context).unwrap_or_else(|| text(fingerprint));
    let options = list(options, |option| {
        let text = text(&option.text);
        let condition = self::option(option.condition.as_ref().map(formula));
        quote!(CompileOption { text: #text, condition: #condition })
    });
    let parameters = list(parameters, parameter);
    let dimensions = list(dimensions, text);
    let constraints = list(constraints, formula);
    let defines = list(defines, |define| {
        let (name, value) = (text(&define.name), formula(&define.value));
        quote!(Define { name: #name, value: #value })
    });
    let arguments = list(arguments, argument);
    let scratch = list(scratch, |scratch| {
        let (name, len) = (text(&scratch.name), formula(&scratch.len));
        let element = element_type(scratch.element);
        let zeros = scratch.zeros;
        quote!(Scratch { name: #name, element: #element, len: #len, zeros: #zeros })
    });
    let steps = list(steps, step);
    let default = option(default.as_ref().map(|codes| integers(codes)));
    let template = option(template.as_ref().map(self::template));
    quote! {{
        #[allow(unused_imports)]
        use #krate::__private::core::{
            device::DeviceField,
            expr::{Formula, Op, Program},
            model::{
                Access, Argument, ArgumentKind, BufferRef, CompileOption, Define, ElementType,
                ImageDeclaration, ImageKind, Memory, MemoryChoice, Model, ScalarType, Scratch, Stage, StageArgument, Step,
                Template,
            },
            parameter::{Domain, Fraction, Parameter, RealRange, Scale},
        };
        #[allow(unused_imports)]
        use ::std::borrow::Cow::Borrowed;
        Model {
            name: #name,
            fingerprint: #fingerprint,
            source: #source,
            options: #options,
            parameters: #parameters,
            dimensions: #dimensions,
            constraints: #constraints,
            defines: #defines,
            arguments: #arguments,
            scratch: #scratch,
            steps: #steps,
            default: #default,
            template: #template,
        }
    }}
}

fn template(template: &Template) -> TokenStream {
    let (name, elements) = (text(&template.name), formula(&template.elements));
    let [scalar_size, vectors] =
        [template.scalar_size, template.vectors].map(Literal::i64_unsuffixed);
    quote! {
        Template {
            name: #name,
            scalar_size: #scalar_size,
            vectors: #vectors,
            elements: #elements,
        }
    }
}

pub(super) fn text(text: &Text) -> TokenStream {
    quote!(Borrowed(#text))
}

pub(super) fn integers(values: &[i64]) -> TokenStream {
    let values = values.iter().map(|value| Literal::i64_unsuffixed(*value));
    quote!(Borrowed(&[#(#values),*]))
}

pub(super) fn list<T: Clone, U: ToTokens>(values: &List<T>, of: impl Fn(&T) -> U) -> TokenStream {
    let values = values.iter().map(of);
    quote!(Borrowed(&[#(#values),*]))
}

pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

fn parameter(parameter: &Parameter) -> TokenStream {
    let name = text(&parameter.name);
    let int = |value: &i64| Literal::i64_unsuffixed(*value);
    let domain = match &parameter.domain {
        Domain::Integers(values) => {
            let values = integers(values);
            quote!(Integers(#values))
        }
        Domain::Range { first, last, step } => {
            let [first, last, step] = [first, last, step].map(int);
            quote!(Range { first: #first, last: #last, step: #step })
        }
        Domain::PowersOfTwo { first, last } => {
            let [first, last] = [first, last].map(int);
            quote!(PowersOfTwo { first: #first, last: #last })
        }
        Domain::Booleans(values) => {
            let values = values.iter();
            quote!(Booleans(Borrowed(&[#(#values),*])))
        }
        Domain::Fractions(values) => {
            let values = list(values, |value| {
                let value = Literal::f64_suffixed(value.get());
                quote!(Fraction::of(#value))
            });
            quote!(Fractions(#values))
        }
        Domain::Reals(RealRange { first, last, scale }) => {
            let [first, last] = [first, last].map(|value| Literal::f64_suffixed(value.get()));
            let scale = match scale {
                Scale::Linear => quote!(Linear),
                Scale::Logarithmic => quote!(Logarithmic),
            };
            quote!(Reals(RealRange {
                first: Fraction::of(#first),
                last: Fraction::of(#last),
                scale: Scale::#scale,
            }))
        }
        Domain::PerDevice(formulas) => {
            let formulas = list(formulas, formula);
            quote!(PerDevice(#formulas))
        }
        Domain::Names(names) => {
            let names = list(names, text);
            quote!(Names(#names))
        }
    };
    quote!(Parameter { name: #name, domain: Domain::#domain })
}

pub(super) fn formula(formula: &Formula) -> TokenStream {
    let text = text(&formula.text);
    let ops = list(&formula.program.ops, op);
    quote!(Formula { text: #text, program: Program { ops: #ops } })
}

fn op(op: &Op) -> TokenStream {
    match op {
        Op::Const(value) => {
            let value = Literal::i64_unsuffixed(*value);
            quote!(Op::Const(#value))
        }
        Op::Device(field) => {
            let field = format_ident!("{}", field.variant());
            quote!(Op::Device(DeviceField::#field))
        }
        Op::Param(index) => indexed("Param", *index),
        Op::Dim(index) => indexed("Dim", *index),
        Op::Jump(target) => indexed("Jump", *target),
        Op::JumpIfFalse(target) => indexed("JumpIfFalse", *target),
        Op::AndThen(target) => indexed("AndThen", *target),
        Op::OrElse(target) => indexed("OrElse", *target),
        // Without content, so that the name that `Debug` shows is the whole of it.
        Op::Neg
        | Op::Not
        | Op::Abs
        | Op::IsPowerOfTwo
        | Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Rem
        | Op::Shl
        | Op::Shr
        | Op::BitAnd
        | Op::BitOr
        | Op::BitXor
        | Op::Eq
        | Op::Ne
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::Min
        | Op::Max
        | Op::Pow
        | Op::DivCeil
        | Op::NextMultipleOf => {
            let name = format_ident!("{op:?}");
            quote!(Op::#name)
        }
    }
}

fn indexed(name: &str, index: u16) -> TokenStream {
    let name = format_ident!("{name}");
    let index = Literal::u16_unsuffixed(index);
    quote!(Op::#name(#index))
}

fn scalar(scalar: ScalarType) -> TokenStream {
    let variant = format_ident!("{}", scalar.variant());
    quote!(ScalarType::#variant)
}

fn element_type(element: ElementType) -> TokenStream {
    match element {
        ElementType::Vector { scalar, lanes } => {
            let lanes = Literal::u8_unsuffixed(lanes);
            let scalar = self::scalar(scalar);
            quote!(ElementType::Vector { scalar: #scalar, lanes: #lanes })
        }
        ElementType::Struct(ty) => {
            let constant = structs::constant(ty);
            quote!(ElementType::Struct(#constant))
        }
    }
}

fn argument(argument: &Argument) -> TokenStream {
    let name = text(&argument.name);
    let kind = match &argument.kind {
        ArgumentKind::Scalar {
            scalar: ty,
            dimension,
        } => {
            let ty = element_type(*ty);
            let dimension = option(
                dimension.map(|dimension| Literal::u16_unsuffixed(dimension).into_token_stream()),
            );
            quote!(Scalar { scalar: #ty, dimension: #dimension })
        }
        ArgumentKind::Buffer {
            element,
            access,
            len,
            memory,
        } => {
            let element = element_type(*element);
            let access = match access {
                Access::Read => quote!(Read),
                Access::ReadWrite => quote!(ReadWrite),
                Access::Write => quote!(Write),
            };
            let len = option(len.as_ref().map(formula));
            let memory = self::memory(memory);
            quote! {
                Buffer {
                    element: #element,
                    access: Access::#access,
                    len: #len,
                    memory: #memory,
                }
            }
        }
    };
    quote!(Argument { name: #name, kind: ArgumentKind::#kind })
}

fn memory(memory: &Memory) -> TokenStream {
    match memory {
        Memory::Chosen(choice) => {
            let parameter = Literal::u16_unsuffixed(choice.parameter);
            let image = option(choice.image.as_ref().map(image));
            quote!(Memory::Chosen(MemoryChoice { parameter: #parameter, image: #image }))
        }
        Memory::Image(declaration) => {
            let image = image(declaration);
            quote!(Memory::Image(#image))
        }
        Memory::Buffer => quote!(Memory::Buffer),
    }
}

fn image(image: &ImageDeclaration) -> TokenStream {
    let ImageDeclaration {
        kind,
        normalized,
        size,
    } = image;
    let kind = format_ident!("{kind:?}");
    let size = list(size, formula);
    quote! {
        ImageDeclaration { kind: ImageKind::#kind, normalized: #normalized, size: #size }
    }
}

fn step(step: &Step) -> TokenStream {
    let when = |when: &Option<Formula>| option(when.as_ref().map(formula));
    match step {
        Step::Launch(stage) => {
            let kernel = text(&stage.kernel);
            let when = when(&stage.when);
            let sizes = [&stage.global, &stage.local, &stage.offset];
            let [global, local, offset] = sizes.map(|formulas| list(formulas, formula));
            let local_memory = option(stage.local_memory.as_ref().map(formula));
            let arguments = list(&stage.arguments, stage_argument);
            quote! {
                Step::Launch(Stage {
                    kernel: #kernel,
                    when: #when,
                    global: #global,
                    local: #local,
                    offset: #offset,
                    local_memory: #local_memory,
                    arguments: #arguments,
                })
            }
        }
        Step::Clear { buffer, when: done } => {
            let (buffer, when) = (buffer_ref(*buffer), when(done));
            quote!(Step::Clear { buffer: #buffer, when: #when })
        }
        Step::Copy {
            from,
            to,
            when: done,
        } => {
            let (from, to, when) = (buffer_ref(*from), buffer_ref(*to), when(done));
            quote!(Step::Copy { from: #from, to: #to, when: #when })
        }
        Step::Swap { buffers } => {
            let [a, b] = buffers.map(buffer_ref);
            quote!(Step::Swap { buffers: [#a, #b] })
        }
        Step::Repeat {
            round,
            count,
            steps,
        } => {
            let (round, count) = (text(round), formula(count));
            let steps = list(steps, self::step);
            quote!(Step::Repeat { round: #round, count: #count, steps: #steps })
        }
    }
}

fn stage_argument(argument: &StageArgument) -> TokenStream {
    match argument {
        StageArgument::Passed(position) => {
            let position = Literal::u16_unsuffixed(*position);
            quote!(StageArgument::Passed(#position))
        }
        StageArgument::Scratch(position) => {
            let position = Literal::u16_unsuffixed(*position);
            quote!(StageArgument::Scratch(#position))
        }
        StageArgument::Value { scalar: ty, value } => {
            let (ty, value) = (scalar(*ty), formula(value));
            quote!(StageArgument::Value { scalar: #ty, value: #value })
        }
        StageArgument::Local { name, element, len } => {
            let (name, element, len) = (text(name), element_type(*element), formula(len));
            quote!(StageArgument::Local { name: #name, element: #element, len: #len })
        }
    }
}

fn buffer_ref(buffer: BufferRef) -> TokenStream {
    let (kind, position) = match buffer {
        BufferRef::Passed(position) => ("Passed", position),
        BufferRef::Scratch(position) => ("Scratch", position),
    };
    let kind = format_ident!("{kind}");
    let position = Literal::u16_unsuffixed(position);
    quote!(BufferRef::#kind(#position))
}
