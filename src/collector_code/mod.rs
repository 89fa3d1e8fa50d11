//! What the module's own collector code says: which globals it visits, which fields of each class,
//! and what the classes are called.
//!
//! The compiler generates `__visit_globals`, which hands every managed global to `__visit`, and
//! `__visit_members`, which branches by class id to code that hands over every managed field.
//! Whatever an optimiser inlines and renames, those calls remain, and their arguments are read
//! here. This is first-hand evidence: it is what the collector does. What it cannot tell are the
//! contents of containers, which are visited in loops; run-time type flags do that.

mod interpreter;

use std::collections::{BTreeSet, HashMap, HashSet};

use interpreter::{Base, Call, Interpreter, Value};
use wasmparser::{FunctionBody, Operator};

use crate::module::{Functions, Module};
use crate::units::{Address, ClassId, GlobalIndex};

/// How many instructions may be read for one class, and for the roots.
const BUDGET: u64 = 10_000_000;

/// The id of `ArrayBufferView`, whose one reference is its buffer, at offset 0.
const ARRAY_BUFFER_VIEW: u32 = 3;

/// Where in a module the collector's code is. Its functions are read when they are asked about.
#[derive(Clone, Debug)]
pub struct CollectorCode {
    visit: u32,
    visit_members: u32,
    constructed: HashMap<ClassId, String>,
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
    /// such code or it is of a shape that is not known.
    pub fn find(module: &Module<'_>) -> Option<Self> {
        let functions = &module.functions;
        let visit_members = functions
            .named("~lib/rt/__visit_members")
            .filter(|&function| functions.body(function).is_some_and(branches_by_class_id))
            .or_else(|| {
                let mut found = functions
                    .defined()
                    .filter(|(_, body)| branches_by_class_id(body));
                let (function, _) = found.next()?;
                found.next().is_none().then_some(function)
            })?;
        let mut code = Self {
            visit: u32::MAX,
            visit_members,
            constructed: constructed_classes(functions),
        };
        // Every program has this class, and it has one reference: what gets it is `__visit`.
        let calls = code.calls_for(functions, ClassId(ARRAY_BUFFER_VIEW))?;
        let buffer = Value::Known {
            base: Base::Field(0),
            plus: 0,
        };
        let visiting = calls
            .iter()
            .find(|call| call.arguments.first() == Some(&buffer))?;
        code.visit = visiting.function;
        Some(code)
    }

    /// What is visited of objects of a class. `None` if the code for it cannot be read.
    pub fn members(&self, functions: &Functions<'_>, id: ClassId) -> Option<VisitedMembers> {
        let mut members = VisitedMembers::default();
        for call in self.calls_for(functions, id)? {
            if call.function != self.visit {
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

    /// Every global that is visited. `None` if the code cannot be read.
    pub fn globals(&self, functions: &Functions<'_>) -> Option<BTreeSet<VisitedGlobal>> {
        let mut visited = BTreeSet::new();
        let mut interpreter = interpreter(functions, None);
        for (function, body) in functions.defined() {
            if function == self.visit || !self.calls_visit(body) {
                continue;
            }
            let parameters = functions.signature(function)?.parameters as usize;
            let reading = interpreter.read(function, &vec![Value::Unknown; parameters])?;
            for call in reading
                .calls
                .iter()
                .filter(|call| call.function == self.visit)
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

    /// The name of a class, where a function's name tells it: its visitor's, as long as that is a
    /// function of its own, or its constructor's.
    pub fn class_name(&self, functions: &Functions<'_>, id: ClassId) -> Option<String> {
        let arguments = [Value::OBJECT, Value::Unknown];
        let parameters = functions.signature(self.visit_members)?.parameters as usize;
        let reading = interpreter(functions, Some(id))
            .read(self.visit_members, arguments.get(..parameters)?)?;
        let visitor = reading
            .calls
            .first()
            .and_then(|call| functions.name(call.function));
        let name = visitor
            .and_then(|name| name.strip_suffix("~visit"))
            .or_else(|| self.constructed.get(&id).map(String::as_str))?;
        // The compiler escapes parentheses and commas of function types.
        Some(
            name.replace("%28", "(")
                .replace("%29", ")")
                .replace("%2C", ","),
        )
    }

    /// All calls that are made to visit an object of this class, by the function that branches and
    /// by all that are handed the object.
    fn calls_for(&self, functions: &Functions<'_>, id: ClassId) -> Option<Vec<Call>> {
        let mut interpreter = interpreter(functions, Some(id));
        let parameters = functions.signature(self.visit_members)?.parameters as usize;
        let mut arguments = vec![Value::Unknown; parameters];
        *arguments.first_mut()? = Value::OBJECT;
        let mut pending = vec![Call {
            function: self.visit_members,
            arguments,
        }];
        let mut seen = HashSet::new();
        let mut calls = Vec::new();
        while let Some(call) = pending.pop() {
            if !seen.insert(call.clone()) {
                continue;
            }
            for inner in interpreter.read(call.function, &call.arguments)?.calls {
                if inner.arguments.contains(&Value::OBJECT) && inner.function != self.visit {
                    pending.push(inner.clone());
                }
                calls.push(inner);
            }
        }
        Some(calls)
    }

    fn calls_visit(&self, body: &FunctionBody<'_>) -> bool {
        operators(body).any(|operator| {
            matches!(operator, Operator::Call { function_index } if function_index == self.visit)
        })
    }
}

fn interpreter<'m, 'a>(functions: &'m Functions<'a>, id: Option<ClassId>) -> Interpreter<'m, 'a> {
    Interpreter {
        functions,
        class_id: id.map(|id| id.0),
        budget: BUDGET,
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
/// makes is the object itself. An id that several of them make first is left out.
fn constructed_classes(functions: &Functions<'_>) -> HashMap<ClassId, String> {
    let mut found: HashMap<ClassId, Option<&str>> = HashMap::new();
    let new = functions
        .exported("__new")
        .or_else(|| functions.named("~lib/rt/itcms/__new"));
    for (function, body) in functions.defined() {
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
    named.collect()
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
