//! From a record's text to the steps of a group of launches.

use super::RecordProblem;
use super::fields::Fields;
use crate::formula::{Scope, Type};
use cltune_core::Text;
use cltune_core::expr::Formula;
use cltune_core::model::{Argument, ArgumentKind, BufferRef, Scratch, Stage, StageArgument, Step};

/// The deepest that steps may be repeated within repeated steps.
const DEEPEST: usize = 8;

/// The names that steps may use.
pub(super) struct Names<'a> {
    pub(super) arguments: &'a [Argument],
    pub(super) scratch: &'a [Scratch],
}

/// The steps of tables, of which those of a round follow their `repeat`, one deeper.
pub(super) fn steps(
    tables: &[Fields<'_>],
    scope: &Scope<'_>,
    names: &Names<'_>,
) -> Result<Vec<Step>, RecordProblem> {
    let mut reader = Reader {
        tables,
        at: 0,
        scope,
        names,
    };
    let steps = reader.steps(0, scope.dimensions)?;
    match tables.get(reader.at) {
        Some(table) => Err(table.damaged("depth", "no `round` is so deep")),
        None => Ok(steps),
    }
}

struct Reader<'a> {
    tables: &'a [Fields<'a>],
    at: usize,
    scope: &'a Scope<'a>,
    names: &'a Names<'a>,
}

impl Reader<'_> {
    /// The steps from here on that are as deep; `dimensions` ends with the rounds around them.
    fn steps(&mut self, depth: usize, dimensions: &[Text]) -> Result<Vec<Step>, RecordProblem> {
        let mut steps = Vec::new();
        while let Some(table) = self.tables.get(self.at) {
            let of_table = match table.optional_ints("depth")?.as_deref() {
                Some(&[depth]) => usize::try_from(depth).ok(),
                _ => None,
            };
            if of_table != Some(depth) {
                break;
            }
            self.at += 1;
            steps.push(self.step(table, depth, dimensions)?);
        }
        Ok(steps)
    }

    fn step(
        &mut self,
        table: &Fields<'_>,
        depth: usize,
        dimensions: &[Text],
    ) -> Result<Step, RecordProblem> {
        let rounds = Scope {
            parameters: self.scope.parameters,
            dimensions,
        };
        let when = table.optional_condition("when", &rounds)?;
        if let Some(round) = table.optional_text("round")? {
            if depth >= DEEPEST {
                return Err(table.damaged("depth", "steps are repeated too deeply"));
            }
            let round = table.printable("round", round)?;
            let count = table.formula("count", &rounds)?;
            let inner = [dimensions, std::slice::from_ref(&round)].concat();
            let steps = self.steps(depth + 1, &inner)?.into();
            return Ok(Step::Repeat {
                round,
                count,
                steps,
            });
        }
        if let Some(buffer) = table.optional_text("clear")? {
            let buffer = self.buffer(table, "clear", buffer)?;
            return Ok(Step::Clear { buffer, when });
        }
        if let Some([from, to]) = self.two_buffers(table, "copy")? {
            return Ok(Step::Copy { from, to, when });
        }
        if let Some(buffers) = self.two_buffers(table, "swap")? {
            return Ok(Step::Swap { buffers });
        }
        let arguments = table.texts("arguments")?.into_iter();
        let arguments = arguments.map(|text| self.argument(table, text, &rounds));
        let arguments = arguments.collect::<Result<_, _>>()?;
        stage(table, self.scope, &rounds, arguments).map(Step::Launch)
    }

    fn argument(
        &self,
        table: &Fields<'_>,
        text: &str,
        rounds: &Scope<'_>,
    ) -> Result<StageArgument, RecordProblem> {
        let damaged = |message: String| table.damaged("arguments", message);
        let Some((left, formula)) = text.split_once(" = ") else {
            let position_of = |found: Option<usize>| found.map(position);
            let passed = self
                .names
                .arguments
                .iter()
                .position(|argument| argument.name == text);
            let scratch = self
                .names
                .scratch
                .iter()
                .position(|scratch| scratch.name == text);
            return position_of(passed)
                .map(StageArgument::Passed)
                .or(position_of(scratch).map(StageArgument::Scratch))
                .ok_or_else(|| damaged(format!("there is no argument {text:?}")));
        };
        let (name, ty) = match left.split_once(": ") {
            Some((name, ty)) => (Some(name), ty),
            None => (None, left),
        };
        let element = table.element_type("arguments", ty)?;
        let scope = if name.is_some() { self.scope } else { rounds };
        let formula = crate::formula::parse(formula, scope, Type::Int)
            .map_err(|error| damaged(format!("in the formula `{formula}`, {error}")))?;
        Ok(match name {
            Some(name) => StageArgument::Local {
                name: table.printable("arguments", name)?,
                element,
                len: formula,
            },
            None => StageArgument::Value {
                scalar: element
                    .as_scalar()
                    .ok_or_else(|| damaged(format!("{ty:?} is not a scalar type")))?,
                value: formula,
            },
        })
    }

    fn two_buffers(
        &self,
        table: &Fields<'_>,
        key: &str,
    ) -> Result<Option<[BufferRef; 2]>, RecordProblem> {
        let Some(names) = table.optional_texts(key)? else {
            return Ok(None);
        };
        let [a, b] = names[..] else {
            return Err(table.damaged(key, "two buffers are expected"));
        };
        Ok(Some([
            self.buffer(table, key, a)?,
            self.buffer(table, key, b)?,
        ]))
    }

    fn buffer(
        &self,
        table: &Fields<'_>,
        key: &str,
        name: &str,
    ) -> Result<BufferRef, RecordProblem> {
        let is_buffer = |argument: &Argument| {
            argument.name == name && matches!(argument.kind, ArgumentKind::Buffer { .. })
        };
        let passed = self.names.arguments.iter().position(is_buffer);
        let scratch = self
            .names
            .scratch
            .iter()
            .position(|scratch| scratch.name == name);
        passed
            .map(|at| BufferRef::Passed(position(at)))
            .or(scratch.map(|at| BufferRef::Scratch(position(at))))
            .ok_or_else(|| table.damaged(key, format!("there is no buffer {name:?}")))
    }
}

/// A stage; `scope` is that of its sizes, `rounds` that of its condition.
pub(super) fn stage(
    table: &Fields<'_>,
    scope: &Scope<'_>,
    rounds: &Scope<'_>,
    arguments: Vec<StageArgument>,
) -> Result<Stage, RecordProblem> {
    let global = table.formulas("global", scope, Type::Int)?;
    let local = table.formulas("local", scope, Type::Int)?;
    let offset = table.formulas("offset", scope, Type::Int)?;
    check_rank(table, &global, &[("local", &local), ("offset", &offset)])?;
    Ok(Stage {
        kernel: table.owned("kernel")?.into(),
        when: table.optional_condition("when", rounds)?,
        global: global.into(),
        local: local.into(),
        offset: offset.into(),
        local_memory: table.optional_formula("local_memory", scope)?,
        arguments: arguments.into(),
    })
}

/// Sizes have 1 to 3 dimensions, and those that are there at all have as many as the global size.
pub(super) fn check_rank(
    fields: &Fields<'_>,
    global: &[Formula],
    others: &[(&str, &[Formula])],
) -> Result<(), RecordProblem> {
    if !(1..=3).contains(&global.len()) {
        return Err(fields.damaged("global", "a size has 1 to 3 dimensions"));
    }
    for (key, formulas) in others {
        if !formulas.is_empty() && formulas.len() != global.len() {
            return Err(fields.damaged(key, "it has not as many dimensions as the global size"));
        }
    }
    Ok(())
}

/// A position in a list that no source can make longer than 16 bits count.
pub(super) fn position(position: usize) -> u16 {
    u16::try_from(position).unwrap_or(u16::MAX)
}
