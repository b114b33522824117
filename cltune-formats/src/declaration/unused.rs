//! The parameters that nothing names: their values make no difference.

use super::{Compared, Computation, Declaration, Reference, Tolerance};
use cltune_core::Text;
use cltune_core::expr::Formula;
use cltune_core::model::{
    Argument, ArgumentKind, CompileOption, Define, ImageDeclaration, Memory, MemoryChoice, Model,
    Scratch, Stage, StageArgument, Step, Template, mentioned,
};
use cltune_core::parameter::Domain;

impl Declaration {
    /// The names of the parameters that neither a kernel's text, nor a compile option, nor a formula
    /// names. None where a text may make up names (`##`) or includes what is not here.
    pub fn unused_parameters(&self) -> Vec<&Text> {
        let mut uses = Uses::default();
        uses.of_declaration(self);
        let model = &self.model;
        let macros = model.parameters.iter().flat_map(|parameter| {
            // `PARAMETER_value` is a macro, too.
            let values: &[Text] = match &parameter.domain {
                Domain::Names(names) => names,
                _ => &[],
            };
            let own = (parameter.name.to_string(), values.join(" "));
            let of_values = values
                .iter()
                .map(|value| (format!("{}_{value}", parameter.name), String::new()));
            std::iter::once(own).chain(of_values).collect::<Vec<_>>()
        });
        let named = mentioned(
            &uses.sources.join("\n"),
            &uses.options.join(" "),
            macros.collect(),
        );
        let unused = model
            .parameters
            .iter()
            .enumerate()
            .filter(|(position, of)| {
                let name = &*of.name;
                let is_own = |macro_name: &str| match macro_name.strip_prefix(name) {
                    Some("") => true,
                    Some(rest) => matches!(of.domain, Domain::Names(_)) && rest.starts_with('_'),
                    None => false,
                };
                let in_kernel_name = format!("{{{name}}}");
                !named.iter().any(|(name, _)| is_own(name))
                    && !uses.parameters.contains(&(*position as u16))
                    && !uses.kernels.iter().any(|of| of.contains(&in_kernel_name))
            });
        unused.map(|(_, parameter)| &parameter.name).collect()
    }
}

/// What may name parameters. Every field of what is walked is named here, so that the compiler asks
/// about a new one.
#[derive(Default)]
struct Uses<'a> {
    /// The parameters in formulas, by position.
    parameters: Vec<u16>,
    sources: Vec<&'a str>,
    options: Vec<&'a str>,
    kernels: Vec<&'a str>,
}

impl<'a> Uses<'a> {
    fn of_declaration(&mut self, declaration: &'a Declaration) {
        let Declaration {
            model,
            package: _,
            version: _,
            source_file: _,
            lockfile_seen: _,
            files: _,
            problems: _,
            tune_if,
            prepare,
            reference,
            tolerance,
            draws: _,
            fills: _,
            compared,
            bytes,
            flops,
            even_work: _,
            measure: _,
        } = declaration;
        self.of_model(model);
        self.formulas(tune_if.iter().chain(bytes).chain(flops));
        let own = match reference {
            Reference::Own(own) => Some(own),
            Reference::Default => None,
        };
        for computation in own.into_iter().chain(prepare) {
            let Computation {
                source,
                scratch,
                steps,
            } = computation;
            self.sources.extend(source.as_deref());
            self.of_scratch(scratch);
            self.of_steps(steps);
        }
        let Tolerance {
            elements: _,
            norm: _,
            accumulates,
        } = tolerance;
        self.formulas(accumulates);
        for compared in compared {
            if let Compared::Range { begin, end } = compared {
                self.formulas([begin, end]);
            }
        }
    }

    fn of_model(&mut self, model: &'a Model) {
        let Model {
            name: _,
            fingerprint: _,
            source,
            options,
            parameters,
            dimensions: _,
            constraints,
            defines,
            arguments,
            scratch,
            steps,
            default: _,
            template,
        } = model;
        self.sources.push(source);
        for CompileOption { text, condition } in options.iter() {
            self.options.push(text);
            self.formulas(condition);
        }
        for parameter in parameters.iter() {
            if let Domain::PerDevice(formulas) = &parameter.domain {
                self.formulas(formulas.iter());
            }
        }
        self.formulas(constraints.iter());
        self.formulas(defines.iter().map(|Define { name: _, value }| value));
        for Argument { name: _, kind } in arguments.iter() {
            let ArgumentKind::Buffer {
                element: _,
                access: _,
                len,
                memory,
            } = kind
            else {
                continue;
            };
            self.formulas(len);
            match memory {
                Memory::Buffer => {}
                Memory::Chosen(MemoryChoice { parameter, image }) => {
                    self.parameters.push(*parameter);
                    self.of_images(image);
                }
                Memory::Image(image) => self.of_images([image]),
            }
        }
        self.of_scratch(scratch);
        self.of_steps(steps);
        if let Some(Template {
            name: _,
            scalar_size: _,
            vectors: _,
            elements,
        }) = template
        {
            self.formulas([elements]);
        }
    }

    fn of_images(&mut self, images: impl IntoIterator<Item = &'a ImageDeclaration>) {
        for ImageDeclaration {
            kind: _,
            normalized: _,
            size,
        } in images
        {
            self.formulas(size.iter());
        }
    }

    fn of_scratch(&mut self, scratch: &'a [Scratch]) {
        for Scratch {
            name: _,
            element: _,
            len,
            zeros: _,
        } in scratch
        {
            self.formulas([len]);
        }
    }

    fn of_steps(&mut self, steps: &'a [Step]) {
        for step in steps {
            self.formulas(step.when());
            match step {
                Step::Launch(stage) => self.of_stage(stage),
                Step::Clear { .. } | Step::Copy { .. } | Step::Swap { .. } => {}
                Step::Repeat {
                    round: _,
                    count,
                    steps,
                } => {
                    self.formulas([count]);
                    self.of_steps(steps);
                }
            }
        }
    }

    fn of_stage(&mut self, stage: &'a Stage) {
        let Stage {
            kernel,
            when,
            global,
            local,
            offset,
            local_memory,
            arguments,
        } = stage;
        self.kernels.push(kernel);
        let sizes = global.iter().chain(local.iter()).chain(offset.iter());
        self.formulas(sizes.chain(when).chain(local_memory));
        for argument in arguments.iter() {
            match argument {
                StageArgument::Passed(_) | StageArgument::Scratch(_) => {}
                StageArgument::Value { scalar: _, value } => self.formulas([value]),
                StageArgument::Local {
                    name: _,
                    element: _,
                    len,
                } => self.formulas([len]),
            }
        }
    }

    fn formulas(&mut self, formulas: impl IntoIterator<Item = &'a Formula>) {
        let formulas = formulas.into_iter();
        self.parameters
            .extend(formulas.flat_map(|formula| formula.program.parameters()));
    }
}

#[cfg(test)]
#[path = "../../tests/unit/unused.rs"]
mod tests;
