//! Debug information as other producers would write it: other versions, forms, units and section names.
//! `debug_info::writer` writes the same form as WARPO.

use crate::support::{
    Class, DumpFile, ModuleOptions, Object, Scene, analyze, class_name, encode_module, live,
    warnings,
};
use gimli::write::{
    AttributeValue, DebugInfoRef, Dwarf, EndianVec, Expression, LineProgram, Sections, Unit,
    UnitEntryId, UnitId,
};
use gimli::{Encoding, Format, LittleEndian};

const NODE: &str = "assembly/index/Node";

/// A heap with globals and objects, but without descriptions: a node that refers to another one, and the
/// index of the global that keeps it.
struct Undescribed {
    scene: Scene,
    nodes: [Object; 2],
    global: u32,
}

const NODE_ID: u32 = 7;

impl Undescribed {
    fn new() -> Self {
        let mut scene = Scene::new();
        let class = Class::undescribed(NODE_ID);
        let nodes = [(); 2].map(|()| scene.object(class, 8));
        scene.set(nodes[0], 4, nodes[1]);
        let global = scene.globals.len() as u32;
        scene.globals.push(crate::support::WasmGlobal::variable(
            "assembly/index/head",
            nodes[0].0,
        ));
        Self {
            scene,
            nodes,
            global,
        }
    }

    /// Asserts that with these sections both nodes are found alive, with the correct name.
    #[track_caller]
    fn assert_described_by(&self, sections: &[(&str, Vec<u8>)]) {
        let module = encode_module(&self.scene.globals, sections, &ModuleOptions::default());
        assert_both_nodes(&self.scene.dump(), &module, self.nodes);
    }
}

#[track_caller]
fn assert_both_nodes(dump: &DumpFile, module: &[u8], nodes: [Object; 2]) {
    let heap = analyze(dump, module).unwrap();
    assert_eq!(live(&heap), nodes);
    assert_eq!(class_name(&heap, nodes[0]), NODE);
    assert_eq!(warnings(&heap), [""; 0]);
}

/// DWARF under construction.
struct Writer {
    dwarf: Dwarf,
    encoding: Encoding,
}

impl Writer {
    fn new(version: u16) -> Self {
        Self {
            dwarf: Dwarf::new(),
            encoding: Encoding {
                format: Format::Dwarf32,
                version,
                address_size: 4,
            },
        }
    }

    fn unit(&mut self) -> UnitId {
        self.dwarf
            .units
            .add(Unit::new(self.encoding, LineProgram::none()))
    }

    /// Adds an entry with these attributes; without a parent, directly under the unit.
    fn entry(
        &mut self,
        unit: UnitId,
        parent: Option<UnitEntryId>,
        tag: gimli::DwTag,
        attributes: &[(gimli::DwAt, AttributeValue)],
    ) -> UnitEntryId {
        let unit = self.dwarf.units.get_mut(unit);
        let parent = parent.unwrap_or(unit.root());
        let entry = unit.add(parent, tag);
        for (name, value) in attributes {
            unit.get_mut(entry).set(*name, value.clone());
        }
        entry
    }

    fn sections(&mut self) -> Vec<(&'static str, Vec<u8>)> {
        let mut sections = Sections::new(EndianVec::new(LittleEndian));
        self.dwarf.write(&mut sections).unwrap();
        let mut written = Vec::new();
        sections
            .for_each(|id, section| {
                if !section.slice().is_empty() {
                    written.push((&id.name()[1..], section.slice().to_vec()));
                }
                Ok::<_, gimli::write::Error>(())
            })
            .unwrap();
        written
    }
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::String(text.as_bytes().to_vec())
}

/// A class, its field `next` and the global variable, in one unit.
struct Forms {
    name: AttributeValue,
    id: AttributeValue,
    offset: AttributeValue,
    location: AttributeValue,
}

impl Forms {
    /// The forms that WARPO uses.
    fn usual(global: u32) -> Self {
        Self {
            name: text(NODE),
            id: AttributeValue::Data4(NODE_ID),
            offset: AttributeValue::Data4(4),
            location: AttributeValue::Data4(global),
        }
    }

    fn write(self, writer: &mut Writer, tag: gimli::DwTag) {
        let unit = writer.unit();
        let node = writer.entry(
            unit,
            None,
            tag,
            &[
                (gimli::DW_AT_name, self.name),
                (gimli::DW_AT_signature, self.id),
            ],
        );
        let of_node = (gimli::DW_AT_type, AttributeValue::UnitRef(node));
        writer.entry(
            unit,
            Some(node),
            gimli::DW_TAG_member,
            &[
                (gimli::DW_AT_name, text("next")),
                (gimli::DW_AT_data_member_location, self.offset),
                of_node.clone(),
            ],
        );
        writer.entry(
            unit,
            None,
            gimli::DW_TAG_variable,
            &[
                (gimli::DW_AT_name, text("assembly/index/head")),
                (gimli::DW_AT_location, self.location),
                of_node,
            ],
        );
    }
}

fn wasm_location(global: u32) -> AttributeValue {
    let mut expression = Expression::new();
    expression.op_wasm_global(global);
    AttributeValue::Exprloc(expression)
}

#[test]
fn dwarf_4_is_read() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    Forms::usual(heap.global).write(&mut writer, gimli::DW_TAG_class_type);
    heap.assert_described_by(&writer.sections());
}

#[test]
fn dwarf_5_is_read() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(5);
    Forms::usual(heap.global).write(&mut writer, gimli::DW_TAG_class_type);
    heap.assert_described_by(&writer.sections());
}

#[test]
fn a_wasm_location_is_a_global() {
    for version in [4, 5] {
        let heap = Undescribed::new();
        let mut writer = Writer::new(version);
        let forms = Forms {
            location: wasm_location(heap.global),
            ..Forms::usual(0)
        };
        forms.write(&mut writer, gimli::DW_TAG_class_type);
        heap.assert_described_by(&writer.sections());
    }
}

#[test]
fn an_address_is_not_taken_for_a_global() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    let mut expression = Expression::new();
    // Global 0 is another one.
    expression.op_addr(gimli::write::Address::Constant(0));
    let forms = Forms {
        location: AttributeValue::Exprloc(expression),
        ..Forms::usual(0)
    };
    forms.write(&mut writer, gimli::DW_TAG_class_type);
    // Without a location, the name identifies the global.
    heap.assert_described_by(&writer.sections());
}

#[test]
fn numbers_of_every_form_are_read() {
    let heap = Undescribed::new();
    let number = |value: u32| {
        [
            AttributeValue::Data1(value as u8),
            AttributeValue::Data2(value as u16),
            AttributeValue::Data4(value),
            AttributeValue::Data8(value.into()),
            AttributeValue::Udata(value.into()),
            AttributeValue::Sdata(value.into()),
        ]
    };
    let ids = number(NODE_ID).into_iter();
    for ((id, offset), location) in ids.zip(number(4)).zip(number(heap.global)) {
        let mut writer = Writer::new(4);
        let forms = Forms {
            name: text(NODE),
            id,
            offset,
            location,
        };
        forms.write(&mut writer, gimli::DW_TAG_class_type);
        heap.assert_described_by(&writer.sections());
    }
}

#[test]
fn names_may_be_in_the_string_section() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    let name = writer.dwarf.strings.add(NODE);
    let forms = Forms {
        name: AttributeValue::StringRef(name),
        ..Forms::usual(heap.global)
    };
    forms.write(&mut writer, gimli::DW_TAG_class_type);
    heap.assert_described_by(&writer.sections());
}

#[test]
fn names_may_be_in_the_line_string_section() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(5);
    let name = writer.dwarf.line_strings.add(NODE);
    let forms = Forms {
        name: AttributeValue::LineStringRef(name),
        ..Forms::usual(heap.global)
    };
    forms.write(&mut writer, gimli::DW_TAG_class_type);
    heap.assert_described_by(&writer.sections());
}

#[test]
fn structures_and_interfaces_are_classes_too() {
    for tag in [gimli::DW_TAG_structure_type, gimli::DW_TAG_interface_type] {
        let heap = Undescribed::new();
        let mut writer = Writer::new(4);
        Forms::usual(heap.global).write(&mut writer, tag);
        heap.assert_described_by(&writer.sections());
    }
}

#[test]
fn the_64_bit_format_of_dwarf_is_read() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    writer.encoding.format = Format::Dwarf64;
    Forms::usual(heap.global).write(&mut writer, gimli::DW_TAG_class_type);
    heap.assert_described_by(&writer.sections());
}

#[test]
fn several_units_each_with_its_own_abbreviations_are_read() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    // The first unit's abbreviations have other shapes under the same codes.
    let first = writer.unit();
    let number = writer.entry(
        first,
        None,
        gimli::DW_TAG_base_type,
        &[(gimli::DW_AT_name, text("i32"))],
    );
    let of_number = (gimli::DW_AT_type, AttributeValue::UnitRef(number));
    writer.entry(
        first,
        None,
        gimli::DW_TAG_variable,
        &[of_number, (gimli::DW_AT_name, text("assembly/index/count"))],
    );
    Forms::usual(heap.global).write(&mut writer, gimli::DW_TAG_class_type);
    heap.assert_described_by(&writer.sections());
}

#[test]
fn a_type_may_be_in_another_unit() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    let (types, variables) = (writer.unit(), writer.unit());
    let number = writer.entry(
        types,
        None,
        gimli::DW_TAG_base_type,
        &[(gimli::DW_AT_name, text("i32"))],
    );
    let reference = AttributeValue::DebugInfoRef(DebugInfoRef::Entry(types, number));
    writer.entry(
        variables,
        None,
        gimli::DW_TAG_variable,
        &[
            (gimli::DW_AT_location, AttributeValue::Data4(heap.global)),
            (gimli::DW_AT_type, reference),
        ],
    );
    let module = encode_module(
        &heap.scene.globals,
        &writer.sections(),
        &ModuleOptions::default(),
    );
    // A type that could not be resolved would make the number a possible reference.
    assert_eq!(live(&analyze(&heap.scene.dump(), &module).unwrap()), []);
}

#[test]
fn locals_of_methods_are_neither_fields_nor_globals() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    let unit = writer.unit();
    let class = writer.entry(
        unit,
        None,
        gimli::DW_TAG_class_type,
        &[
            (gimli::DW_AT_name, text(NODE)),
            (gimli::DW_AT_signature, AttributeValue::Data4(NODE_ID)),
        ],
    );
    let number = [(gimli::DW_AT_name, text("i32"))];
    let number = writer.entry(unit, None, gimli::DW_TAG_base_type, &number);
    let own_field = [
        (gimli::DW_AT_data_member_location, AttributeValue::Data4(0)),
        (gimli::DW_AT_type, AttributeValue::UnitRef(number)),
    ];
    writer.entry(unit, Some(class), gimli::DW_TAG_member, &own_field);
    let variable = [
        (gimli::DW_AT_location, AttributeValue::Data4(heap.global)),
        (gimli::DW_AT_type, AttributeValue::UnitRef(number)),
    ];
    writer.entry(unit, None, gimli::DW_TAG_variable, &variable);
    let method = writer.entry(unit, Some(class), gimli::DW_TAG_subprogram, &[]);
    for tag in [gimli::DW_TAG_member, gimli::DW_TAG_variable] {
        writer.entry(
            unit,
            Some(method),
            tag,
            &[
                (gimli::DW_AT_data_member_location, AttributeValue::Data4(4)),
                (gimli::DW_AT_location, AttributeValue::Data4(heap.global)),
                (gimli::DW_AT_type, AttributeValue::UnitRef(class)),
            ],
        );
    }
    let module = encode_module(
        &heap.scene.globals,
        &writer.sections(),
        &ModuleOptions::default(),
    );
    let analyzed = analyze(&heap.scene.dump(), &module).unwrap();
    assert_eq!(live(&analyzed), []);
    assert_eq!(analyzed.edges.len(), 0);
}

/// The forms that newer WARPO adds: sizes of types, closures, and variables that a closure captures, whose places are
/// offsets in a tuple.
#[test]
fn sizes_closures_and_captured_variables_are_neither_fields_nor_globals() {
    let heap = Undescribed::new();
    let mut writer = Writer::new(4);
    Forms::usual(heap.global).write(&mut writer, gimli::DW_TAG_class_type);
    let unit = writer.unit();
    let number = [
        (gimli::DW_AT_name, text("i32")),
        (gimli::DW_AT_byte_size, AttributeValue::Data1(4)),
    ];
    let number = writer.entry(unit, None, gimli::DW_TAG_base_type, &number);
    let tuple = [
        (gimli::DW_AT_name, text("[~lib/tuple/SmallTuple,i32]")),
        (gimli::DW_AT_byte_size, AttributeValue::Data4(16)),
    ];
    writer.entry(unit, None, gimli::DW_TAG_class_type, &tuple);
    let outer = [(gimli::DW_AT_name, text("assembly/index/outer"))];
    let outer = writer.entry(unit, None, gimli::DW_TAG_subprogram, &outer);
    let block = writer.entry(unit, Some(outer), gimli::DW_TAG_lexical_block, &[]);
    for (parent, tag) in [
        (outer, gimli::DW_TAG_formal_parameter),
        (block, gimli::DW_TAG_variable),
    ] {
        let captured = [
            (gimli::DW_AT_name, text("total")),
            (gimli::DW_AT_type, AttributeValue::UnitRef(number)),
            (gimli::DW_AT_data_member_location, AttributeValue::Data4(4)),
            (gimli::DW_AT_location, AttributeValue::Data4(2)),
        ];
        writer.entry(unit, Some(parent), tag, &captured);
    }
    let closure = [
        (gimli::DW_AT_name, text("assembly/index/outer~anonymous|0")),
        (gimli::DW_AT_static_link, AttributeValue::Data4(1)),
        (gimli::DW_AT_description, text("assembly/index/outer")),
    ];
    writer.entry(unit, None, gimli::DW_TAG_subprogram, &closure);
    heap.assert_described_by(&writer.sections());
}

/// A described scene, for tests of the sections and not of their contents.
fn described() -> (Scene, [Object; 2]) {
    let mut scene = Scene::new();
    let node = scene.class(NODE);
    scene.field(node, "next", 0, node);
    let nodes = [(); 2].map(|()| scene.object(node, 8));
    scene.set(nodes[0], 0, nodes[1]);
    scene.global("assembly/index/head", node, nodes[0]);
    (scene, nodes)
}

#[test]
fn section_names_may_begin_with_a_dot() {
    let (scene, nodes) = described();
    let options = ModuleOptions {
        section_prefix: ".",
        ..ModuleOptions::default()
    };
    assert_both_nodes(&scene.dump(), &scene.module_with(&options), nodes);
}

#[test]
fn a_unit_need_not_close_its_list_of_entries() {
    let (scene, nodes) = described();
    let mut sections = scene.debug_sections();
    let info = &mut sections[0].1;
    assert_eq!(info.pop(), Some(0));
    let length = info.len() as u32 - 4;
    info[..4].copy_from_slice(&length.to_le_bytes());
    let module = encode_module(&scene.globals, &sections, &ModuleOptions::default());
    assert_both_nodes(&scene.dump(), &module, nodes);
}

#[test]
fn a_reference_to_nowhere_is_possibly_a_reference() {
    let (mut scene, nodes) = described();
    scene.description.classes[0].fields[0].name = "field".to_owned();
    let mut sections = scene.debug_sections();
    let info = &mut sections[0].1;
    // The member's name is followed by its type and its offset.
    let name = b"field\0";
    let member = info.windows(name.len()).position(|bytes| bytes == name);
    let of = member.unwrap() + name.len();
    info[of..of + 4].copy_from_slice(&0xDEAD_BEEFu32.to_le_bytes());
    let module = encode_module(&scene.globals, &sections, &ModuleOptions::default());
    assert_both_nodes(&scene.dump(), &module, nodes);
}

#[test]
fn without_the_string_section_names_in_place_are_still_read() {
    let (scene, nodes) = described();
    let mut sections = scene.debug_sections();
    sections.retain(|(name, _)| *name != "debug_str");
    let module = encode_module(&scene.globals, &sections, &ModuleOptions::default());
    assert_both_nodes(&scene.dump(), &module, nodes);
}
