//! What the module's own collector code says: which globals it visits, which fields of each class,
//! and what the classes are called.
//!
//! The compiler generates `__visit_globals`, which hands every managed global to `__visit`, and
//! `__visit_members`, which branches by class id to code that hands over every managed field.
//! Whatever an optimiser inlines and renames, those calls remain, and their arguments are read
//! here. This is first-hand evidence: it is what the collector does. What it cannot tell are the
//! contents of containers, which are visited in loops; run-time type flags do that.

mod interpreter;
mod value;

use std::collections::{BTreeSet, HashMap, HashSet};

use interpreter::{Call, Interpreter};
use value::{Base, Value};
use wasmparser::{FunctionBody, Operator};

use crate::control::Control;
use crate::module::{Functions, Module};
use crate::units::{Address, ClassId, GlobalIndex};

/// How many instructions may be read for one class, and for the roots.
const BUDGET: u64 = 4_000_000;

/// How many may be read for all classes together: for each, the branching code is read once, so this is
/// enough for twenty thousand of them. What is not read counts as a shape that is not known.
const WHOLE_BUDGET: u64 = 500_000_000;

/// How many of these there may be for each byte of code, beside those for one class: it takes as many classes
/// to need them all.
const STEPS_PER_BYTE: u64 = 256;

/// The same for the names of all classes, for each of which the branching code is read.
const NAMES_BUDGET: u64 = 100_000_000;

/// The id of `ArrayBufferView`, whose one reference is its buffer, at offset 0.
const ARRAY_BUFFER_VIEW: u32 = 3;

/// Where in a module the collector's code is. Its functions are read when they are asked about.
#[derive(Clone, Debug)]
pub struct CollectorCode {
    visit: u32,
    visit_members: u32,
    constructed: HashMap<ClassId, String>,
}

/// Reads the functions of a module; what was decoded once is kept for the next class.
#[derive(Debug)]
pub struct CodeReader<'m, 'a> {
    interpreter: Interpreter<'m, 'a>,
    /// What is left of [`WHOLE_BUDGET`].
    left: u64,
}

impl<'m, 'a> CodeReader<'m, 'a> {
    /// A reader that has decoded nothing yet. Once the work is cancelled, it can read nothing any more.
    pub fn new(functions: &'m Functions<'a>, control: &Control) -> Self {
        Self {
            interpreter: Interpreter::new(functions, control.clone()),
            left: WHOLE_BUDGET.min(BUDGET + STEPS_PER_BYTE * functions.code_size()),
        }
    }

    /// The interpreter, for the objects of one class or of any.
    fn about(&mut self, id: Option<ClassId>, budget: u64) -> &mut Interpreter<'m, 'a> {
        self.return_budget();
        self.interpreter.class_id = id.map(|id| id.0);
        self.interpreter.budget = budget.min(self.left);
        self.left -= self.interpreter.budget;
        &mut self.interpreter
    }

    /// Takes back what the last reading left over.
    fn return_budget(&mut self) {
        self.left += std::mem::take(&mut self.interpreter.budget);
    }
}

/// What the collector visits of every object of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitedMembers {
    /// Offsets of the fields, ascending.
    pub offsets: BTreeSet<u32>,
    /// It visits more, which depends on the object: the elements of a container.
    pub and_more: bool,
}

/// Where the collector starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VisitedGlobal {
    /// The value of a global.
    Global(GlobalIndex),
    /// An object whose address is in the code: the global was optimised away.
    Constant(Address),
}

impl CollectorCode {
    /// Finds the collector's code by its names, or by what it does. `None` if the module has no
    /// such code, it is of a shape that is not known, or the work was cancelled.
    pub fn find(module: &Module<'_>, control: &Control) -> Option<Self> {
        let functions = &module.functions;
        let visit_members = functions
            .named("~lib/rt/__visit_members")
            .filter(|&function| functions.body(function).is_some_and(branches_by_class_id))
            .or_else(|| {
                let mut found = functions
                    .defined()
                    .filter(|(_, body)| control.check().is_ok() && branches_by_class_id(body));
                let (function, _) = found.next()?;
                found.next().is_none().then_some(function)
            })?;
        let mut code = Self {
            visit: u32::MAX,
            visit_members,
            constructed: constructed_classes(functions, control)?,
        };
        // Every program has this class, and it has one reference: what gets it is `__visit`.
        let reader = &mut CodeReader::new(functions, control);
        let calls = code.calls_for(reader, ClassId(ARRAY_BUFFER_VIEW))?;
        let buffer = Value::Known {
            base: Base::Field(0),
            plus: 0,
        };
        let visiting = calls
            .iter()
            .find(|call| call.arguments.first() == Some(&buffer))?;
        code.visit = visiting.function?;
        Some(code)
    }

    /// What is visited of objects of a class. `None` if the code for it cannot be read.
    pub fn members(&self, reader: &mut CodeReader<'_, '_>, id: ClassId) -> Option<VisitedMembers> {
        let mut members = VisitedMembers::default();
        for call in self.calls_for(reader, id)? {
            if call.function != Some(self.visit) {
                // Whoever gets the object in a way that is not followed may visit anything of it.
                members.and_more |= !self.is_followed(&call)
                    && call
                        .arguments
                        .iter()
                        .any(|argument| argument.is_in_object());
                continue;
            }
            match call.arguments.first()? {
                Value::Known {
                    base: Base::Field(offset),
                    plus: 0,
                } => {
                    members.offsets.insert(*offset);
                }
                _ => members.and_more = true,
            }
        }
        Some(members)
    }

    /// Every global that is visited. `None` if the code cannot be read, or the work was cancelled.
    pub fn globals(
        &self,
        functions: &Functions<'_>,
        control: &Control,
    ) -> Option<BTreeSet<VisitedGlobal>> {
        let mut visited = BTreeSet::new();
        let mut reader = CodeReader::new(functions, control);
        let interpreter = reader.about(None, BUDGET);
        for (function, body) in functions.defined() {
            control.check().ok()?;
            if function == self.visit || !self.calls_visit(body) {
                continue;
            }
            let parameters = functions.signature(function)?.parameters as usize;
            let reading = interpreter.read(function, &vec![Value::Unknown; parameters])?;
            for call in reading
                .calls
                .iter()
                .filter(|call| call.function == Some(self.visit))
            {
                match call.arguments.first()? {
                    Value::Known {
                        base: Base::Global(index),
                        plus: 0,
                    } => {
                        visited.insert(VisitedGlobal::Global(GlobalIndex(*index)));
                    }
                    value => {
                        let constant = value.as_constant().filter(|&address| address != 0);
                        visited.extend(constant.map(|at| VisitedGlobal::Constant(Address(at))));
                    }
                }
            }
        }
        Some(visited)
    }

    /// The names of classes, where a function's name tells them: their visitor's, as long as that
    /// is a function of its own, or their constructor's.
    ///
    /// An optimiser merges functions that do the same, and what is left has the name of one of
    /// them: a visitor that several classes share names none.
    pub fn class_names(&self, reader: &mut CodeReader<'_, '_>) -> HashMap<ClassId, String> {
        let functions = reader.interpreter.functions;
        if !functions.are_named() {
            return HashMap::new();
        }
        let mut names = self.constructed.clone();
        for (visitor, ids) in self.visitors(reader).unwrap_or_default() {
            let name = functions
                .name(visitor)
                .and_then(|name| name.strip_suffix("~visit"));
            if let (Some(name), [id]) = (name, ids.as_slice()) {
                names.insert(*id, name.to_owned());
            }
        }
        for name in names.values_mut() {
            // The compiler escapes parentheses and commas of function types.
            *name = name
                .replace("%28", "(")
                .replace("%29", ")")
                .replace("%2C", ",");
        }
        names
    }

    /// The functions that are called first to visit objects, each with the classes for which it is.
    /// `None` if the code cannot be read, or not for all classes.
    fn visitors(&self, reader: &mut CodeReader<'_, '_>) -> Option<HashMap<u32, Vec<ClassId>>> {
        let functions = reader.interpreter.functions;
        let mut found: HashMap<u32, Vec<ClassId>> = HashMap::new();
        let parameters = functions.signature(self.visit_members)?.parameters as usize;
        let mut arguments = vec![Value::Unknown; parameters];
        *arguments.first_mut()? = Value::OBJECT;
        let interpreter = reader.about(None, NAMES_BUDGET);
        for id in 0..self.class_count(functions)? {
            interpreter.class_id = Some(id);
            let reading = interpreter.read(self.visit_members, &arguments)?;
            if let Some(first) = reading.calls.first().and_then(|call| call.function) {
                found.entry(first).or_default().push(ClassId(id));
            }
        }
        Some(found)
    }

    /// How many classes the collector's code tells apart.
    fn class_count(&self, functions: &Functions<'_>) -> Option<u32> {
        operators(functions.body(self.visit_members)?).find_map(|operator| match operator {
            Operator::BrTable { targets } => Some(targets.len()),
            _ => None,
        })
    }

    /// The calls that are made to visit an object of this class, by the function that branches and by all
    /// that are handed the object: those of `__visit`, and those that get something of the object.
    fn calls_for(&self, reader: &mut CodeReader<'_, '_>, id: ClassId) -> Option<Vec<Call>> {
        let functions = reader.interpreter.functions;
        let interpreter = reader.about(Some(id), BUDGET);
        let parameters = functions.signature(self.visit_members)?.parameters as usize;
        let mut arguments = vec![Value::Unknown; parameters];
        *arguments.first_mut()? = Value::OBJECT;
        let mut pending = vec![Call {
            function: Some(self.visit_members),
            arguments,
        }];
        let mut seen = HashSet::new();
        let mut calls = Vec::new();
        while let Some(call) = pending.pop() {
            if !seen.insert(call.clone()) {
                continue;
            }
            for inner in interpreter.read(call.function?, &call.arguments)?.calls {
                if self.is_followed(&inner) {
                    pending.push(inner.clone());
                }
                // Millions of other calls may be made on the way.
                if inner.function == Some(self.visit)
                    || inner
                        .arguments
                        .iter()
                        .any(|argument| argument.is_of_object())
                {
                    calls.push(inner);
                }
            }
        }
        Some(calls)
    }

    /// Whether the object is handed on to a function that can be read.
    fn is_followed(&self, call: &Call) -> bool {
        call.function.is_some_and(|function| function != self.visit)
            && call.arguments.contains(&Value::OBJECT)
    }

    fn calls_visit(&self, body: &FunctionBody<'_>) -> bool {
        operators(body).any(|operator| {
            matches!(operator, Operator::Call { function_index } if function_index == self.visit)
        })
    }
}

/// Reads the class id from the header of its first argument and branches by it.
fn branches_by_class_id(body: &FunctionBody<'_>) -> bool {
    let mut earlier = [false; 4];
    operators(body).any(|operator| {
        let expected = [
            matches!(operator, Operator::LocalGet { local_index: 0 }),
            earlier[0] && matches!(operator, Operator::I32Const { value: 8 }),
            earlier[1] && matches!(operator, Operator::I32Sub),
            earlier[2] && matches!(operator, Operator::I32Load { memarg } if memarg.offset == 0),
        ];
        let branches = earlier[3] && matches!(operator, Operator::BrTable { .. });
        earlier = expected;
        branches
    })
}

fn operators<'a>(body: &FunctionBody<'a>) -> impl Iterator<Item = Operator<'a>> {
    let reader = body.get_operators_reader().ok();
    reader.into_iter().flatten().map_while(Result::ok)
}

/// The classes that constructors name: the first thing that `assembly/index/Node#constructor`
/// makes is the object itself. An id that several of them make first is left out. `None` if the work was
/// cancelled.
fn constructed_classes(
    functions: &Functions<'_>,
    control: &Control,
) -> Option<HashMap<ClassId, String>> {
    let mut found: HashMap<ClassId, Option<&str>> = HashMap::new();
    let new = functions
        .exported("__new")
        .or_else(|| functions.named("~lib/rt/itcms/__new"));
    for (function, body) in functions.defined() {
        control.check().ok()?;
        let name = functions
            .name(function)
            .and_then(|name| name.strip_suffix("#constructor"));
        if let (Some(name), Some(new)) = (name, new)
            && let Some(id) = first_made(body, new)
        {
            let known = found.entry(id).or_insert(Some(name));
            *known = known.filter(|&known| known == name);
        }
    }
    let named = found
        .into_iter()
        .filter_map(|(id, name)| Some((id, name?.to_owned())));
    Some(named.collect())
}

/// The class id that a function first passes to `__new(size, id)`.
fn first_made(body: &FunctionBody<'_>, new: u32) -> Option<ClassId> {
    let mut id = None;
    for operator in operators(body) {
        match operator {
            Operator::Call { function_index } if function_index == new => return id,
            Operator::I32Const { value } => id = Some(ClassId(value as u32)),
            _ => id = None,
        }
    }
    None
}
