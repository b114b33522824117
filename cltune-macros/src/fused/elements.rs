//! Elements of matrices, and of vectors beside them, in the generated source of one kernel.

use super::arguments::{KernelArgument, leading_name};
use super::program::{Action, Operand, Place, Program, Statement};
use super::streaming;
use super::strides::{self, is_strided, place_of_number};
use super::value::{At, Lanes, Shape, Style, Value, type_text};
use super::writer::{Writer, stored};
use std::collections::BTreeMap;

/// The registers that hold elements while a kernel is written.
pub(super) struct Elements<'a> {
    pub(super) writer: Writer<'a>,
    /// The newest register of each element.
    pub(super) registers: BTreeMap<(usize, At), String>,
    /// Those of numbers in buffers.
    numbers: BTreeMap<usize, String>,
    /// The place of vectors that statements about vectors mean.
    own: At,
    /// Whether single elements are computed, which are left behind the last whole vector.
    pub(super) is_tail: bool,
}

impl<'a> Elements<'a> {
    pub(super) fn new(program: &'a Program, style: Style, own: At) -> Self {
        Self {
            writer: Writer::new(program, style),
            registers: BTreeMap::new(),
            numbers: BTreeMap::new(),
            own,
            is_tail: false,
        }
    }

    /// Loads the numbers that statements read from buffers.
    pub(super) fn load_numbers<'s>(&mut self, statements: impl Iterator<Item = &'s Statement>) {
        for operand in statements.flat_map(|statement| statement.value.operands()) {
            let Operand {
                scalar,
                shape,
                place,
                ..
            } = self.writer.program.operands[operand];
            if shape != Shape::Number || self.numbers.contains_key(&operand) {
                continue;
            }
            self.writer.used.insert(operand);
            let name = self.writer.name(operand);
            if place == Place::Value {
                self.numbers.insert(operand, name);
                continue;
            }
            let number = &self.writer.program.operands[operand];
            let place = place_of_number(number);
            self.writer
                .used
                .extend(number.layout.operands(self.writer.program));
            let (ty, register) = (type_text(scalar, Lanes::One), self.writer.register(operand));
            self.writer
                .line(1, &format!("const {ty} {register} = {name}[{place}];"));
            self.numbers.insert(operand, register);
        }
    }

    /// Declares where those operands of statements begin that do not at the first element of their
    /// buffer.
    pub(super) fn declare_firsts<'s>(&mut self, statements: impl Iterator<Item = &'s Statement>) {
        let program = self.writer.program;
        let mut places: BTreeMap<usize, At> = BTreeMap::new();
        for statement in statements {
            places.extend(self.read(statement));
            if statement.action == Action::Store {
                let is_matrix = statement.grid.is_some();
                let at = if is_matrix { statement.at } else { self.own };
                places.insert(statement.target, at);
            }
        }
        for (operand, at) in places {
            let operand = &program.operands[operand];
            if is_strided(operand) {
                let count = if at == At::Line { "lines" } else { "length" };
                self.writer.used.extend(operand.layout.operands(program));
                let line = strides::first_declared(operand, count);
                self.writer.line(1, &line);
            }
        }
    }

    /// The elements that a statement reads.
    pub(super) fn read(&self, statement: &Statement) -> Vec<(usize, At)> {
        let mut read = statement.value.elements();
        if statement.grid.is_none() {
            let operands = statement.value.operands().into_iter();
            let is_vector = |operand: &usize| {
                matches!(
                    self.writer.program.operands[*operand].shape,
                    Shape::Vector(_)
                )
            };
            read.extend(
                operands
                    .filter(is_vector)
                    .map(|operand| (operand, self.own)),
            );
        }
        read
    }

    /// The text of a value.
    pub(super) fn value(&self, value: &Value, lanes: Lanes) -> String {
        value.text(lanes, &|operand, at| {
            let at = at.unwrap_or(self.own);
            match self.numbers.get(&operand) {
                Some(register) => register.clone(),
                None => self.registers[&(operand, at)].clone(),
            }
        })
    }

    /// The lines of a statement that stores: its comment, and a register with the value.
    pub(super) fn computed(&mut self, depth: usize, statement: &Statement, lanes: Lanes) {
        let value = self.value(&statement.value, lanes);
        let at = match statement.grid {
            Some(_) => statement.at,
            None => self.own,
        };
        let ty = type_text(statement.value.scalar(), stored(lanes));
        let register = self.writer.register(statement.target);
        self.writer.line(depth, &format!("// {}", statement.text));
        self.writer
            .line(depth, &format!("const {ty} {register} = ({ty})({value});"));
        self.registers.insert((statement.target, at), register);
    }

    /// A new register with an element from memory.
    pub(super) fn loaded(&mut self, depth: usize, element: (usize, At), source: &str) {
        let (operand, at) = element;
        let lanes = match at {
            At::Line => Lanes::One,
            _ => stored(self.lanes()),
        };
        let ty = type_text(self.writer.program.operands[operand].scalar, lanes);
        let register = self.writer.register(operand);
        self.writer
            .line(depth, &format!("const {ty} {register} = {source};"));
        self.registers.insert(element, register);
    }

    /// An element in memory, to be read.
    pub(super) fn memory(&mut self, element: (usize, At)) -> String {
        if let Some((operand, name, line)) = self.by_function(element) {
            let is_across = self.own == At::Along;
            return strides::loaded_of_line(operand, &name, line.as_deref(), is_across);
        }
        match self.place(element) {
            InMemory::One(place) => place,
            InMemory::Vector(from) => {
                let scalar = self.writer.program.operands[element.0].scalar;
                format!("LOADED({}, {from})", scalar.opencl_name())
            }
        }
    }

    /// The statement that stores an element.
    pub(super) fn stored(&mut self, element: (usize, At), register: &str) -> String {
        self.writer.written.insert(element.0);
        if let Some((operand, name, line)) = self.by_function(element) {
            let is_across = self.own == At::Along;
            return strides::stored_of_line(operand, &name, line.as_deref(), is_across, register);
        }
        match self.place(element) {
            InMemory::One(place) => format!("{place} = {register};"),
            InMemory::Vector(to) => {
                let operand = &self.writer.program.operands[element.0];
                let stored = if element.1 == At::Cell && streaming::is_streamed(operand) {
                    "STREAMED_OF_LINE"
                } else {
                    "STORED"
                };
                let scalar = operand.scalar.opencl_name();
                format!("{stored}({scalar}, {to}, {register});")
            }
        }
    }

    /// The operand and its name where a function loads and stores its elements, and how far the
    /// line begins behind its first element.
    fn by_function(
        &mut self,
        (operand, at): (usize, At),
    ) -> Option<(&'a Operand, String, Option<String>)> {
        self.writer.used.insert(operand);
        let read = &self.writer.program.operands[operand];
        let is_vector = self.lanes() == Lanes::Cells && matches!(at, At::Cell | At::Along);
        (is_vector && is_strided(read)).then(|| {
            let line = (at == At::Cell).then(|| format!("line * {}", leading(read, at)));
            (read, self.writer.name(operand), line)
        })
    }

    /// Where an element is in memory.
    fn place(&self, (operand, at): (usize, At)) -> InMemory {
        let read = &self.writer.program.operands[operand];
        let name = self.writer.name(operand);
        let is_vector = matches!(at, At::Line | At::Along);
        if is_vector && is_strided(read) {
            let at = if at == At::Line { "line" } else { "at" };
            return InMemory::One(strides::element(read, &name, at));
        }
        let name = strides::beginning(read, &name);
        let line = match at {
            At::Line => return InMemory::One(format!("{name}[line]")),
            At::Crossed => {
                return InMemory::One(format!("{name}[at * {} + line]", leading(read, at)));
            }
            At::Along => name,
            At::Cell => format!("({name} + line * {})", leading(read, at)),
        };
        match self.lanes() {
            Lanes::Cells => InMemory::Vector(line),
            _ => InMemory::One(format!("{line}[at]")),
        }
    }

    /// How many elements are computed at once in a line.
    pub(super) fn lanes(&self) -> Lanes {
        match self.writer.style {
            Style::Tuned if self.is_tail => Lanes::One,
            Style::Tuned => Lanes::Cells,
            Style::Reference => Lanes::Wide,
        }
    }

    /// How one element is computed.
    pub(super) fn one(&self) -> Lanes {
        match self.writer.style {
            Style::Tuned => Lanes::One,
            Style::Reference => Lanes::Wide,
        }
    }

    /// The arguments for what was used, after the sizes.
    pub(super) fn arguments(&self) -> Vec<KernelArgument> {
        let program = self.writer.program;
        let used = || self.writer.used.iter().copied();
        let has_leading = |operand: &usize| {
            let matrix = program.operands[*operand].matrix.as_ref();
            matrix.is_some_and(|storage| storage.leading.is_some())
        };
        let leading = used().filter(has_leading).map(KernelArgument::Leading);
        leading.chain(used().map(KernelArgument::Operand)).collect()
    }
}

/// Where an element is in memory.
enum InMemory {
    /// One element.
    One(String),
    /// The line whose vector `at` is meant.
    Vector(String),
}

/// The distance of the lines of a matrix.
fn leading(operand: &Operand, at: At) -> String {
    match &operand.matrix {
        Some(storage) if storage.leading.is_some() => leading_name(operand),
        _ if at == At::Cell => "length".to_owned(),
        _ => "lines".to_owned(),
    }
}
