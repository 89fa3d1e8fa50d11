//! The function table: which function each of its elements is. A function object of AssemblyScript has the index of an
//! element, because code calls functions by it.

use std::collections::HashMap;
use std::sync::Arc;

use wasmparser::{
    ConstExpr, Element, ElementItems, ElementKind, FunctionBody, Operator, RefType, TableType,
};

use super::functions::Functions;
use super::globals::Globals;
use super::unreadable::unreadable;
use base::control::Control;
use base::error::Result;

/// More elements than this are not of a real program. They get no names.
const MOST_ELEMENTS: usize = 1 << 20;

/// The only table of a module, with the functions that instantiation puts into it.
#[derive(Debug, Default)]
pub struct FunctionTable {
    /// Element index → function index.
    functions: HashMap<u32, u32>,
    tables: u32,
    /// Whether the elements may be other ones than those of the segments.
    is_uncertain: bool,
}

impl FunctionTable {
    /// The names of the elements' functions, by the index of the element. There are none if an element may be another
    /// function than the module says: if the host has the table, because it is imported or exported, if any code
    /// changes it, or if there are several tables.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted).
    pub fn names(
        &self,
        functions: &Functions<'_>,
        control: &Control,
    ) -> Result<HashMap<u32, Arc<str>>> {
        let mut names = HashMap::new();
        if self.is_uncertain || self.tables != 1 || !functions.are_named() {
            return Ok(names);
        }
        for (_, body) in functions.defined() {
            let range = body.range();
            control.count(range.end - range.start)?;
            if changes_table(body).unwrap_or(true) {
                return Ok(names);
            }
        }
        // Any number of elements can be the same function.
        let mut shared: HashMap<u32, Arc<str>> = HashMap::new();
        for (&element, &function) in &self.functions {
            control.count(1)?;
            if let Some(name) = functions.name(function) {
                let name = shared.entry(function).or_insert_with(|| name.into());
                names.insert(element, Arc::clone(name));
            }
        }
        Ok(names)
    }

    pub(super) fn add_imported(&mut self) {
        self.tables += 1;
        self.is_uncertain = true;
    }

    pub(super) fn add_defined(&mut self, table: TableType) {
        self.tables += 1;
        self.is_uncertain |= table.element_type != RefType::FUNCREF;
    }

    pub(super) fn add_export(&mut self) {
        self.is_uncertain = true;
    }

    pub(super) fn add_segment(
        &mut self,
        segment: Element<'_>,
        globals: &Globals<'_>,
        control: &Control,
    ) -> Result<()> {
        let ElementKind::Active { offset_expr, .. } = segment.kind else {
            return Ok(());
        };
        let mut elements = Vec::new();
        match segment.items {
            ElementItems::Functions(items) => {
                for item in items {
                    control.count(1)?;
                    elements.push(Some(item.map_err(unreadable)?));
                }
            }
            ElementItems::Expressions(_, items) => {
                for item in items {
                    control.count(1)?;
                    elements.push(referenced_function(&item.map_err(unreadable)?));
                }
            }
        }
        let Some(start) = globals.evaluate(&offset_expr) else {
            self.is_uncertain = true;
            return Ok(());
        };
        if self.functions.len() + elements.len() > MOST_ELEMENTS {
            self.is_uncertain = true;
            return Ok(());
        }
        // Segments are applied in their order.
        for (element, function) in (start..).zip(elements) {
            match function {
                Some(function) => self.functions.insert(element, function),
                None => self.functions.remove(&element),
            };
        }
        Ok(())
    }
}

/// The function that an element expression refers to, if it is that simple.
fn referenced_function(element: &ConstExpr<'_>) -> Option<u32> {
    let mut operators = element.get_operators_reader().into_iter();
    match operators.next()?.ok()? {
        Operator::RefFunc { function_index } => Some(function_index),
        _ => None,
    }
}

/// Whether a function may replace elements of a table. Growing adds some, but their functions are then put there.
fn changes_table(body: &FunctionBody<'_>) -> Result<bool> {
    for operator in body.get_operators_reader().map_err(unreadable)? {
        if let Operator::TableSet { .. }
        | Operator::TableFill { .. }
        | Operator::TableCopy { .. }
        | Operator::TableInit { .. }
        | Operator::TableGrow { .. } = operator.map_err(unreadable)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
