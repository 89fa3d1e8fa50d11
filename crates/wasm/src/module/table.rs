//! The function table: which function each of its elements is. A function object of AssemblyScript has the index of an
//! element, because code calls functions by it.

use std::collections::HashMap;
use std::sync::Arc;

use wasmparser::{
    ConstExpr, Element, ElementItems, ElementKind, ElementSectionReader, FunctionBody, Operator,
    RefType, TableSectionReader,
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

    pub(super) fn read_tables(
        &mut self,
        section: TableSectionReader<'_>,
        control: &Control,
    ) -> Result<()> {
        for table in section {
            control.count(1)?;
            self.tables += 1;
            let holds_functions = table.is_ok_and(|it| it.ty.element_type == RefType::FUNCREF);
            self.is_uncertain |= !holds_functions;
        }
        Ok(())
    }

    pub(super) fn add_export(&mut self) {
        self.is_uncertain = true;
    }

    pub(super) fn read_segments(
        &mut self,
        section: ElementSectionReader<'_>,
        globals: &Globals<'_>,
        control: &Control,
    ) -> Result<()> {
        for segment in section {
            control.count(1)?;
            // No number depends on the table: what cannot be read only leaves functions without names.
            match segment {
                Ok(segment) => self.add_segment(segment, globals, control)?,
                Err(_) => self.is_uncertain = true,
            }
            if self.is_uncertain {
                break;
            }
        }
        Ok(())
    }

    fn add_segment(
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
                for item in items.into_iter().take(MOST_ELEMENTS + 1) {
                    control.count(1)?;
                    self.is_uncertain |= item.is_err();
                    elements.push(item.ok());
                }
            }
            ElementItems::Expressions(_, items) => {
                for item in items.into_iter().take(MOST_ELEMENTS + 1) {
                    control.count(1)?;
                    self.is_uncertain |= item.is_err();
                    elements.push(item.ok().and_then(|item| referenced_function(&item)));
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
        for (element, function) in (start..=u32::MAX).zip(elements) {
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

/// Whether a function has an instruction that replaces elements of a table, or adds some.
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use wasm_encoder::{
        CodeSection, ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection,
        Function, FunctionSection, ImportSection, Module as WasmModule, NameMap, NameSection,
        RefType, TableSection, TableType, TypeSection,
    };

    use crate::module::Module;
    use base::control::Control;

    /// A module with a table and the functions `a`, `b` and `c`. `c` has this code.
    #[derive(Default)]
    struct Scene {
        imported: bool,
        exported: bool,
        tables: u64,
        segments: Vec<(ConstExpr, Vec<u32>)>,
        code: Vec<wasm_encoder::Instruction<'static>>,
    }

    fn table() -> TableType {
        TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: 10,
            maximum: None,
            shared: false,
        }
    }

    impl Scene {
        fn new(segments: &[(i32, &[u32])]) -> Self {
            let segments = segments.iter();
            Self {
                tables: 1,
                segments: segments
                    .map(|&(start, functions)| (ConstExpr::i32_const(start), functions.to_vec()))
                    .collect(),
                ..Self::default()
            }
        }

        fn names(&self) -> Vec<(u32, String)> {
            let mut types = TypeSection::new();
            types.ty().function([], []);
            let mut imports = ImportSection::new();
            if self.imported {
                imports.import("env", "table", EntityType::Table(table()));
            }
            let mut functions = FunctionSection::new();
            let mut code = CodeSection::new();
            for nth in 0..3 {
                functions.function(0);
                let mut body = Function::new([]);
                for instruction in self.code.iter().filter(|_| nth == 2) {
                    body.instruction(instruction);
                }
                body.instruction(&wasm_encoder::Instruction::End);
                code.function(&body);
            }
            let mut tables = TableSection::new();
            for _ in u64::from(self.imported)..self.tables {
                tables.table(table());
            }
            let mut exports = ExportSection::new();
            if self.exported {
                exports.export("table", ExportKind::Table, 0);
            }
            let mut elements = ElementSection::new();
            for (start, functions) in &self.segments {
                let functions = Elements::Functions(functions.as_slice().into());
                elements.active(Some(0), start, functions);
            }
            let mut map = NameMap::new();
            for (function, name) in (0..).zip(["a", "b", "c"]) {
                map.append(function, name);
            }
            let mut names = NameSection::new();
            names.functions(&map);
            let mut wasm = WasmModule::new();
            wasm.section(&types).section(&imports).section(&functions);
            wasm.section(&tables).section(&exports).section(&elements);
            let wasm = wasm.section(&code).section(&names).clone().finish();
            let control = Control::default();
            let module = Module::parse(&wasm, &control).unwrap();
            let mut names: Vec<_> = module
                .table
                .names(&module.functions, &control)
                .unwrap()
                .into_iter()
                .map(|(element, name)| (element, name.to_string()))
                .collect();
            names.sort();
            names
        }
    }

    fn named(names: &[(u32, &str)]) -> Vec<(u32, String)> {
        let names = names.iter();
        names
            .map(|&(element, name)| (element, name.to_owned()))
            .collect()
    }

    #[test]
    fn elements_have_the_names_of_their_functions_and_a_later_segment_wins() {
        let scene = Scene::new(&[(1, &[0, 1, 0]), (2, &[2]), (7, &[1])]);
        let expected = named(&[(1, "a"), (2, "c"), (3, "a"), (7, "b")]);
        assert_eq!(scene.names(), expected);
    }

    #[test]
    fn a_table_that_the_host_has_names_nothing() {
        let scene = || Scene::new(&[(1, &[0])]);
        assert_eq!(scene().names().len(), 1);
        let exported = Scene {
            exported: true,
            ..scene()
        };
        assert_eq!(exported.names(), []);
        let imported = Scene {
            imported: true,
            ..scene()
        };
        assert_eq!(imported.names(), []);
        let several = Scene {
            tables: 2,
            ..scene()
        };
        assert_eq!(several.names(), []);
    }

    #[test]
    fn a_table_that_code_changes_names_nothing() {
        use wasm_encoder::Instruction::{
            Drop, I32Const, RefFunc, TableCopy, TableFill, TableGrow, TableInit, TableSet,
        };
        let change = |arguments: &[wasm_encoder::Instruction<'static>], instruction| Scene {
            code: [arguments, &[instruction]].concat(),
            ..Scene::new(&[(1, &[0])])
        };
        let numbers = [I32Const(0), I32Const(1), I32Const(1)];
        let copy = TableCopy {
            src_table: 0,
            dst_table: 0,
        };
        assert_eq!(change(&numbers, copy).names(), []);
        let init = TableInit {
            elem_index: 0,
            table: 0,
        };
        assert_eq!(change(&numbers, init).names(), []);
        let grow = [RefFunc(0), I32Const(1)];
        assert_eq!(change(&grow, TableGrow(0)).names(), []);
        let set = [I32Const(1), RefFunc(0)];
        assert_eq!(change(&set, TableSet(0)).names(), []);
        let fill = [I32Const(1), RefFunc(0), I32Const(1)];
        assert_eq!(change(&fill, TableFill(0)).names(), []);
        // Code that does nothing with the table.
        assert_eq!(change(&[I32Const(0)], Drop).names(), named(&[(1, "a")]));
    }

    #[test]
    fn a_segment_at_the_end_of_all_indexes_is_read() {
        let last = Scene::new(&[(-1, &[0, 1])]);
        assert_eq!(last.names(), named(&[(u32::MAX, "a")]));
    }

    #[test]
    fn a_segment_at_an_unknown_place_may_be_anywhere() {
        let mut scene = Scene::new(&[(1, &[0])]);
        scene.segments.push((ConstExpr::global_get(7), vec![1]));
        assert_eq!(scene.names(), []);
    }
}
