//! Types of programs of C++ and Rust: debug information with the names of containers and of their members, at any places and
//! of any types, and a heap to which variables of these types refer.

use engine::Tolerance;
use engine::outputs::formats::TableOptions;

use crate::choices::Choices;
use crate::leb128::encoded;
use crate::limits::{QUESTIONS, SECTIONS, within};
use crate::native::{HEAP, Image, STATE, dump_of, module};
use crate::questions::{ask_all, export_all, open};

/// Static data with the variables.
const VARIABLES: u32 = 2048;
const VARIABLES_END: u32 = 3072;

/// Names by which containers are known, and others.
const STRUCTS: [&str; 20] = [
    "Vec<T>",
    "VecDeque<T>",
    "RawTable<T>",
    "BTreeMap<K, V>",
    "LeafNode<K, V>",
    "InternalNode<K, V>",
    "RcInner<T>",
    "RcInner<dyn Shape>",
    "ArcInner<T>",
    "vector<T>",
    "basic_string<char>",
    "__tree<T>",
    "__tree_node<T, void *>",
    "deque<T>",
    "__hash_table<T>",
    "weak_ptr<T>",
    "optional<T>",
    "[]T",
    "array_list.Aligned(T,null)",
    "Session",
];

/// Names by which the members of containers are known.
const MEMBERS: [&str; 50] = [
    "buf",
    "ptr",
    "cap",
    "len",
    "head",
    "tail",
    "table",
    "ctrl",
    "bucket_mask",
    "items",
    "root",
    "node",
    "height",
    "length",
    "keys",
    "vals",
    "edges",
    "pointer",
    "vtable",
    "strong",
    "weak",
    "value",
    "__begin_",
    "__end_",
    "__end_cap_",
    "__cap_",
    "__l",
    "__data_",
    "__size_",
    "__begin_node_",
    "__pair1_",
    "__left_",
    "__right_",
    "__value_",
    "__map_",
    "__start_",
    "__first_",
    "__front_cap_",
    "__back_cap_",
    "__bucket_list_",
    "__ptr_",
    "__p1_",
    "__p2_",
    "__p3_",
    "__next_",
    "__cntrl_",
    "__shared_owners_",
    "__engaged_",
    "capacity",
    "next",
];

const ARGUMENTS: [&str; 4] = ["T", "K", "V", "_Tp"];

/// The abbreviations, by what they are for.
mod abbreviation {
    pub const UNIT: u32 = 1;
    pub const NAMESPACE: u32 = 2;
    pub const NUMBER: u32 = 3;
    pub const POINTER: u32 = 4;
    pub const ARRAY: u32 = 5;
    pub const COUNT: u32 = 6;
    pub const STRUCT: u32 = 7;
    pub const UNION: u32 = 8;
    pub const MEMBER: u32 = 9;
    pub const BASE: u32 = 10;
    pub const ARGUMENT: u32 = 11;
    pub const VARIABLE: u32 = 12;
    pub const VARIANTS: u32 = 13;
    pub const VARIANT: u32 = 14;
    pub const OTHER_VARIANT: u32 = 15;
}

/// A tag, whether there are children, and attributes with their forms.
type AbbreviationShape<'a> = (gimli::DwTag, bool, &'a [(gimli::DwAt, gimli::DwForm)]);

/// The section with the abbreviations: a number, a tag, whether there are children, and attributes with their forms.
fn abbreviations() -> Vec<u8> {
    use gimli::constants::*;
    let (name, size, of) = (
        (DW_AT_name, DW_FORM_string),
        (DW_AT_byte_size, DW_FORM_data4),
        (DW_AT_type, DW_FORM_ref4),
    );
    let at = (DW_AT_data_member_location, DW_FORM_data4);
    let containing = (DW_AT_containing_type, DW_FORM_ref4);
    let encoding = (DW_AT_encoding, DW_FORM_data1);
    let count = (DW_AT_count, DW_FORM_data4);
    let location = (DW_AT_location, DW_FORM_exprloc);
    let discriminant = (DW_AT_discr, DW_FORM_ref4);
    let value = (DW_AT_discr_value, DW_FORM_data1);
    let all: [AbbreviationShape<'_>; 15] = [
        (DW_TAG_compile_unit, true, &[]),
        (DW_TAG_namespace, true, &[name]),
        (DW_TAG_base_type, false, &[name, size, encoding]),
        (DW_TAG_pointer_type, false, &[of]),
        (DW_TAG_array_type, true, &[of]),
        (DW_TAG_subrange_type, false, &[count]),
        (DW_TAG_structure_type, true, &[name, size, containing]),
        (DW_TAG_union_type, true, &[name, size]),
        (DW_TAG_member, false, &[name, of, at]),
        (DW_TAG_inheritance, false, &[of, at]),
        (DW_TAG_template_type_parameter, false, &[name, of]),
        (DW_TAG_variable, false, &[name, of, location]),
        (DW_TAG_variant_part, true, &[discriminant]),
        (DW_TAG_variant, true, &[value]),
        (DW_TAG_variant, true, &[]),
    ];
    let mut bytes = Vec::new();
    for (number, (tag, has_children, attributes)) in (1..).zip(all) {
        bytes.extend(encoded(number));
        bytes.extend(encoded(tag.0.into()));
        bytes.push(u8::from(has_children));
        for (attribute, form) in attributes {
            bytes.extend(encoded(attribute.0.into()));
            bytes.extend(encoded(form.0.into()));
        }
        bytes.extend([0, 0]);
    }
    bytes.push(0);
    bytes
}

/// The section with the entries, while it is written.
#[derive(Default)]
struct Entries {
    bytes: Vec<u8>,
    /// The offsets of types.
    types: Vec<u32>,
    /// Where an offset of a type is missing, and the number of this type.
    missing: Vec<(usize, usize)>,
}

impl Entries {
    fn entry(&mut self, abbreviation: u32) {
        self.bytes.extend(encoded(abbreviation));
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend(word.to_le_bytes());
    }

    /// A reference to a type that may come later.
    fn reference(&mut self, number: usize) {
        self.missing.push((self.bytes.len(), number));
        self.word(0);
    }

    fn end(&mut self) {
        self.bytes.push(0);
    }

    fn add_type(&mut self, count: usize, choices: &mut Choices<'_>) {
        self.types.push(self.bytes.len() as u32);
        match choices.below(8) {
            0 => {
                self.entry(abbreviation::NUMBER);
                let (name, size, encoding) = [
                    ("char", 1, gimli::DW_ATE_signed_char),
                    ("u8", 1, gimli::DW_ATE_unsigned),
                    ("int", 4, gimli::DW_ATE_signed),
                    ("double", 8, gimli::DW_ATE_float),
                ][choices.below(4)];
                self.text(name);
                self.word(size);
                self.bytes.push(encoding.0);
            }
            1 | 2 => {
                self.entry(abbreviation::POINTER);
                self.reference(choices.below(count));
            }
            3 => {
                self.entry(abbreviation::ARRAY);
                self.reference(choices.below(count));
                self.entry(abbreviation::COUNT);
                let length = choices.number(3);
                self.word(length);
                self.end();
            }
            4 => {
                self.entry(abbreviation::UNION);
                self.text("");
                self.word(4 + 4 * choices.below(8) as u32);
                self.add_members(count, choices);
                self.end();
            }
            _ => {
                self.entry(abbreviation::STRUCT);
                self.text(STRUCTS[choices.below(STRUCTS.len())]);
                let size = 4 + 4 * choices.below(8) as u32;
                let size = if choices.below(16) == 0 {
                    choices.number(size)
                } else {
                    size
                };
                self.word(size);
                self.reference(choices.below(count));
                for name in &ARGUMENTS[..choices.below(ARGUMENTS.len() + 1)] {
                    self.entry(abbreviation::ARGUMENT);
                    self.text(name);
                    self.reference(choices.below(count));
                }
                if choices.below(4) == 0 {
                    self.entry(abbreviation::BASE);
                    self.reference(choices.below(count));
                    self.word(4 * choices.below(2) as u32);
                }
                self.add_members(count, choices);
                if choices.below(8) == 0 {
                    self.add_variants(count, choices);
                }
                self.end();
            }
        }
    }

    fn add_members(&mut self, count: usize, choices: &mut Choices<'_>) {
        for nth in 0..choices.below(6) {
            self.entry(abbreviation::MEMBER);
            self.text(MEMBERS[choices.below(MEMBERS.len())]);
            self.reference(choices.below(count));
            let offset = if choices.below(16) == 0 {
                choices.number(8)
            } else {
                4 * nth as u32
            };
            self.word(offset);
        }
    }

    fn add_variants(&mut self, count: usize, choices: &mut Choices<'_>) {
        let discriminant = self.bytes.len() as u32;
        self.entry(abbreviation::MEMBER);
        self.text("");
        self.reference(choices.below(count));
        self.word(0);
        self.entry(abbreviation::VARIANTS);
        self.word(discriminant);
        for value in 0..choices.below(3) {
            self.entry(abbreviation::VARIANT);
            self.bytes.push(value as u8);
            self.add_members(count, choices);
            self.end();
        }
        self.entry(abbreviation::OTHER_VARIANT);
        self.add_members(count, choices);
        self.end();
        self.end();
    }

    fn add_variable(&mut self, nth: usize, count: usize, choices: &mut Choices<'_>) {
        self.entry(abbreviation::VARIABLE);
        self.text(["sessions", "table", "<Square as Shape>::{vtable}"][choices.below(3)]);
        self.reference(choices.below(count));
        let mut location = Self::default();
        if choices.below(4) > 0 {
            location.address(VARIABLES + 64 * nth as u32);
        } else {
            // An optimiser divided it.
            for _ in 0..1 + choices.below(4) {
                location.piece(choices);
            }
        }
        self.bytes.extend(encoded(location.bytes.len() as u32));
        self.bytes.append(&mut location.bytes);
    }

    fn address(&mut self, address: u32) {
        self.bytes.push(gimli::DW_OP_addr.0);
        self.word(address);
    }

    /// A part of a variable: in memory, computed, or not known.
    fn piece(&mut self, choices: &mut Choices<'_>) {
        let address = VARIABLES + 4 * choices.below(256) as u32;
        match choices.below(5) {
            0 => {}
            1 => {
                self.bytes.push(gimli::DW_OP_const4u.0);
                self.word(choices.number(HEAP));
                self.bytes.push(gimli::DW_OP_stack_value.0);
            }
            2 => {
                self.address(address);
                self.bytes.push(gimli::DW_OP_deref.0);
                self.bytes.push(gimli::DW_OP_stack_value.0);
            }
            _ => self.address(choices.number(address)),
        }
        let size = match choices.below(4) {
            0 => choices.number(4),
            nth => [4, 8, 1][nth - 1],
        };
        self.bytes.push(gimli::DW_OP_piece.0);
        self.bytes.extend(encoded(size));
    }

    /// All of a unit.
    fn unit(choices: &mut Choices<'_>) -> Vec<u8> {
        let mut entries = Self::default();
        // The length is missing yet.
        entries.word(0);
        entries.bytes.extend(4u16.to_le_bytes());
        entries.word(0);
        entries.bytes.push(4);
        entries.entry(abbreviation::UNIT);
        let count = 2 + choices.below(14);
        let library = choices.below(count);
        entries.entry(abbreviation::NAMESPACE);
        entries.text(["std", "alloc", "own"][choices.below(3)]);
        for nth in 0..count {
            if nth == library {
                entries.end();
            }
            entries.add_type(count, choices);
        }
        for nth in 0..1 + choices.below(8) {
            entries.add_variable(nth, count, choices);
        }
        entries.end();
        for &(at, number) in &entries.missing {
            entries.bytes[at..at + 4].copy_from_slice(&entries.types[number].to_le_bytes());
        }
        let length = entries.bytes.len() as u32 - 4;
        entries.bytes[..4].copy_from_slice(&length.to_le_bytes());
        entries.bytes
    }
}

/// The input makes types, and a heap whose words are mostly what containers have: addresses of blocks, and small numbers.
pub fn native_types(input: &[u8]) {
    let mut choices = Choices::new(input);
    let info = Entries::unit(&mut choices);
    let mut image = Image::default();
    let (_, blocks) = image.dlmalloc(&mut choices);
    let word = |choices: &mut Choices<'_>| match choices.below(8) {
        0 => 0,
        1 => choices.byte().into(),
        2 => VARIABLES + 64 * choices.below(8) as u32,
        3 => choices.number(HEAP),
        _ => {
            let block = blocks.get(choices.below(blocks.len().max(1)));
            // Mostly the start.
            let inside = 4 * (choices.below(6) as u32 / 3);
            block.map_or(HEAP, |block| block.start + inside)
        }
    };
    let variables = (VARIABLES..VARIABLES_END).step_by(4).take(128);
    let contents = blocks.iter().flat_map(|block| block.clone().step_by(4));
    for at in variables.chain(contents) {
        if choices.is_at_end() {
            break;
        }
        let value = word(&mut choices);
        image.put(at, value);
    }
    let wasm = module(
        true,
        &[(".debug_info", &info), (".debug_abbrev", &abbreviations())],
    );
    let dump = dump_of(&image, STATE);
    let starts: Vec<u32> = blocks.iter().map(|block| block.start).collect();
    let ask = || match open(&dump, &wasm, Tolerance::default()) {
        Ok(heap) => {
            export_all(&heap);
            ask_all(&heap, &starts, TableOptions::default());
        }
        Err(error) => assert!(error.code().starts_with("ERR_"), "{error}"),
    };
    within(&[(QUESTIONS, dump.len()), (SECTIONS, wasm.len())], ask);
}
