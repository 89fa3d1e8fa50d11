//! Files that are damaged, cut or made to do harm.

use proptest::prelude::*;

use crate::writer::{Class, INT, OBJECT, Writer};
use crate::{analyze, open};
use base::{Control, Tolerance};
use heap::{ReadOrder, WantedEntries};

const PARTIAL: Tolerance = Tolerance {
    mismatch: false,
    damage: true,
};

fn sound() -> Vec<u8> {
    let mut writer = Writer::new(true);
    writer.class(&Class {
        id: 0x1000,
        name: "java/lang/Object",
        ..Class::default()
    });
    writer.class(&Class {
        id: 0x1100,
        name: "java/lang/String",
        superclass: 0x1000,
        fields: &[("value", OBJECT), ("hash", INT)],
        ..Class::default()
    });
    writer.class(&Class {
        id: 0x1200,
        name: "java/util/ArrayList",
        superclass: 0x1000,
        statics: &[("EMPTY", 0x3000)],
        fields: &[("elementData", OBJECT), ("size", INT)],
        ..Class::default()
    });
    writer.class(&Class {
        id: 0x1300,
        name: "[Ljava/lang/Object;",
        superclass: 0x1000,
        ..Class::default()
    });
    writer.bytes(0x2000, b"hello");
    let mut string = writer.id_bytes(0x2000);
    string.extend(0u32.to_be_bytes());
    writer.instance(0x2100, 0x1100, &string);
    let mut list = writer.id_bytes(0x3000);
    list.extend(2u32.to_be_bytes());
    writer.instance(0x2200, 0x1200, &list);
    writer.next_segment();
    writer.array(0x3000, 0x1300, &[0x2100, 0x2200, 0]);
    writer.root(0x2200);
    writer.finish()
}

/// Asks everything of a file that could be read.
fn ask(file: &[u8], tolerance: Tolerance) {
    let Ok(opened) = open(file, tolerance) else {
        return;
    };
    let control = Control::default();
    let mut reader = opened.source.reader(ReadOrder::Any, &control);
    for nth in 0..opened.heap.objects.len() as u32 {
        let object = base::ObjectIndex(nth);
        // What was read is in memory, so only a record that contradicts itself fails.
        _ = reader.preview(object);
        _ = reader.fields(object, &mut Vec::new());
        let wanted = WantedEntries {
            offset: 0,
            limit: 9,
        };
        _ = reader.entries(object, wanted);
        _ = reader.literal(object);
    }
}

#[test]
fn a_file_that_ends_anywhere_is_an_error_and_with_partial_what_is_complete() {
    let file = sound();
    for length in 0..file.len() {
        let error = analyze(&file[..length]).unwrap_err();
        assert!(
            matches!(error.code(), "ERR_HPROF_TRUNCATED" | "ERR_HPROF"),
            "{length}: {error}"
        );
        ask(&file[..length], PARTIAL);
    }
    // Of the last segment, the array is complete and the root is not.
    let opened = open(&file[..file.len() - 12], PARTIAL).unwrap();
    assert!(opened.heap.is_partial);
    assert_eq!(opened.heap.objects.len(), 8);
    let list = opened.heap.objects.at(base::units::ObjectAddress(0x2200));
    assert!(
        opened
            .heap
            .roots
            .iter()
            .all(|&(root, _)| Some(root) != list)
    );
    let codes: Vec<_> = opened
        .heap
        .warnings
        .iter()
        .map(|warning| warning.code())
        .collect();
    assert_eq!(codes, ["WARN_PARTIAL"]);
}

#[test]
fn a_file_after_its_end_is_an_error() {
    let mut file = sound();
    assert!(analyze(&file).is_ok());
    file.extend([0x1c, 0, 0]);
    assert_eq!(analyze(&file).unwrap_err().code(), "ERR_HPROF_TRUNCATED");
}

#[test]
fn superclasses_in_a_circle_are_an_error() {
    let mut writer = Writer::new(true);
    for (id, superclass) in [(0x1000, 0x1100), (0x1100, 0x1000)] {
        writer.class(&Class {
            id,
            name: "A",
            superclass,
            ..Class::default()
        });
    }
    let error = analyze(&writer.finish()).unwrap_err();
    assert!(error.to_string().contains("superclasses"), "{error}");
}

#[test]
fn two_objects_with_one_id_are_an_error() {
    let mut writer = Writer::new(true);
    writer.bytes(0x2000, b"a");
    writer.bytes(0x2000, b"b");
    let error = analyze(&writer.finish()).unwrap_err();
    assert!(
        error.to_string().contains("two objects have the id 0x2000"),
        "{error}"
    );
}

#[test]
fn an_instance_without_room_for_its_fields_is_an_error() {
    let mut writer = Writer::new(true);
    writer.class(&Class {
        id: 0x1000,
        name: "A",
        fields: &[("a", OBJECT)],
        ..Class::default()
    });
    writer.instance(0x2000, 0x1000, &[0; 4]);
    assert_eq!(analyze(&writer.finish()).unwrap_err().code(), "ERR_HPROF");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_changed_bytes_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        is_partial in any::<bool>(),
    ) {
        let mut file = sound();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        ask(&file, if is_partial { PARTIAL } else { Tolerance::default() });
    }
}
