//! What references, roots and records mean.

use crate::writer::{BYTE, Class, INT, OBJECT, Writer};
use crate::{analyze, is_live, open, references};
use base::Tolerance;
use base::units::ObjectIndex;
use heap::{HostNames, ReadOrder, RootKind};

const OBJECT_CLASS: u64 = 0x1000;

fn ids(writer: &Writer, ids: &[u64]) -> Vec<u8> {
    ids.iter().flat_map(|&id| writer.id_bytes(id)).collect()
}

fn base_classes(writer: &mut Writer) {
    writer.class(&Class {
        id: OBJECT_CLASS,
        name: "java/lang/Object",
        ..Class::default()
    });
    writer.class(&Class {
        id: 0x1100,
        name: "java/lang/ref/Reference",
        superclass: OBJECT_CLASS,
        fields: &[("referent", OBJECT), ("next", OBJECT)],
        ..Class::default()
    });
    for (id, name) in [
        (0x1200, "java/lang/ref/WeakReference"),
        (0x1300, "java/lang/ref/SoftReference"),
        (0x1400, "java/lang/ref/FinalReference"),
    ] {
        writer.class(&Class {
            id,
            name,
            superclass: 0x1100,
            ..Class::default()
        });
    }
}

#[test]
fn a_weak_reference_keeps_nothing_alive_and_a_soft_one_does() {
    for wide in [false, true] {
        let mut writer = Writer::new(wide);
        base_classes(&mut writer);
        for (id, class, target) in [
            (0x2000, 0x1200, 0x3000),
            (0x2100, 0x1300, 0x3100),
            (0x2200, 0x1400, 0x3200),
        ] {
            let contents = ids(&writer, &[target, 0]);
            writer.instance(id, class, &contents);
            writer.instance(target, OBJECT_CLASS, &[]);
            writer.root(id);
        }
        // The next reference of a weak one is a strong reference.
        let contents = ids(&writer, &[0x3000, 0x3300]);
        writer.instance(0x2300, 0x1200, &contents);
        writer.instance(0x3300, OBJECT_CLASS, &[]);
        writer.root(0x2300);
        let opened = open(&writer.finish(), Tolerance::default()).unwrap();
        let heap = &opened.heap;
        assert!(!is_live(heap, 0x3000));
        assert!(is_live(heap, 0x3100) && is_live(heap, 0x3200) && is_live(heap, 0x3300));
        let label = |address| references(&opened, address)[0].0.clone();
        assert_eq!(label(0x2100), "referent (soft)");
        assert_eq!(label(0x2200), "referent (finalizer)");
        let names: &dyn HostNames = opened.source.host_names().unwrap();
        let target = heap.objects.at(base::units::ObjectAddress(0x3000)).unwrap();
        assert_eq!(names.other_edges_to(target).len(), 2);
    }
}

#[test]
fn a_class_refers_to_its_superclass_loader_and_static_fields() {
    let mut writer = Writer::new(true);
    base_classes(&mut writer);
    writer.class(&Class {
        id: 0x4000,
        name: "app/Cache",
        superclass: OBJECT_CLASS,
        loader: 0x2000,
        statics: &[("entries", 0x3000)],
        fields: &[("size", INT)],
    });
    writer.instance(0x2000, OBJECT_CLASS, &[]);
    writer.instance(0x3000, OBJECT_CLASS, &[]);
    writer.instance(0x3100, 0x4000, &7u32.to_be_bytes());
    writer.root(0x3100);
    let opened = open(&writer.finish(), Tolerance::default()).unwrap();
    // The instance keeps its class alive, and the class its loader and what static fields hold.
    assert_eq!(
        references(&opened, 0x3100),
        [("<class>".to_owned(), 0x4000)]
    );
    let expected = [
        ("<superclass>", OBJECT_CLASS),
        ("<loader>", 0x2000),
        ("entries", 0x3000),
    ];
    let expected = expected.map(|(label, address)| (label.to_owned(), address));
    assert_eq!(references(&opened, 0x4000), expected);
    assert_eq!(
        references(&opened, 0x2000),
        [("<classes>".to_owned(), 0x4000)]
    );
    assert!(is_live(&opened.heap, 0x2000));
    // Nothing keeps a class alive whose loader is garbage: without the instance, all are.
    let heap = analyze(&without_root()).unwrap();
    assert!(
        [0x4000, 0x2000, 0x3000]
            .iter()
            .all(|&address| !is_live(&heap, address))
    );
}

fn without_root() -> Vec<u8> {
    let mut writer = Writer::new(true);
    base_classes(&mut writer);
    writer.class(&Class {
        id: 0x4000,
        name: "app/Cache",
        superclass: OBJECT_CLASS,
        loader: 0x2000,
        statics: &[("entries", 0x3000)],
        ..Class::default()
    });
    writer.instance(0x2000, OBJECT_CLASS, &[]);
    writer.instance(0x3000, OBJECT_CLASS, &[]);
    writer.finish()
}

#[test]
fn fields_of_superclasses_come_after_those_of_the_class() {
    let mut writer = Writer::new(true);
    base_classes(&mut writer);
    writer.class(&Class {
        id: 0x4000,
        name: "app/Base",
        superclass: OBJECT_CLASS,
        fields: &[("first", OBJECT), ("kind", BYTE)],
        ..Class::default()
    });
    writer.class(&Class {
        id: 0x4100,
        name: "app/Derived",
        superclass: 0x4000,
        fields: &[("count", INT), ("second", OBJECT)],
        ..Class::default()
    });
    let mut contents = (-5i32).to_be_bytes().to_vec();
    contents.extend(ids(&writer, &[0x3100, 0x3000]));
    contents.push(0xff);
    writer.instance(0x2000, 0x4100, &contents);
    writer.instance(0x3000, OBJECT_CLASS, &[]);
    writer.instance(0x3100, OBJECT_CLASS, &[]);
    writer.root(0x2000);
    let opened = open(&writer.finish(), Tolerance::default()).unwrap();
    let expected = [("second".to_owned(), 0x3100), ("first".to_owned(), 0x3000)];
    assert_eq!(references(&opened, 0x2000), expected);
    let control = base::Control::default();
    let mut reader = opened.source.reader(ReadOrder::Any, &control);
    let object = opened
        .heap
        .objects
        .at(base::units::ObjectAddress(0x2000))
        .unwrap();
    let fields = reader.fields(object, &mut Vec::new()).unwrap();
    let shown: Vec<String> = fields
        .iter()
        .map(|field| format!("{} {} {}", field.type_name, field.name, field.value))
        .collect();
    let expected = [
        "int count -5",
        "java.lang.Object second java.lang.Object@0x3100",
        "java.lang.Object first java.lang.Object@0x3000",
        "byte kind -1",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn the_records_of_android_are_read() {
    let mut writer = Writer::new(false);
    base_classes(&mut writer);
    let pairs = [
        (0x89, 0x2000, 0),
        (0x8a, 0x2100, 0),
        (0x8b, 0x2200, 0),
        (0x8c, 0x2300, 0),
        (0x8d, 0x2400, 0),
        (0x8e, 0x2500, 8),
    ];
    for (tag, id, rest) in pairs {
        writer.instance(id, OBJECT_CLASS, &[]);
        writer.raw(tag, id, &vec![0; rest]);
    }
    // HEAP DUMP INFO: a number and a name. An unreachable object is no root.
    writer.raw(0xfe, 0, &[0, 0, 0, 1]);
    writer.instance(0x2600, OBJECT_CLASS, &[]);
    writer.raw(0x90, 0x2600, &[]);
    // An array of 3 ints without contents.
    writer.raw(0xc3, 0x2700, &[0, 0, 0, 0, 0, 0, 0, 3, INT]);
    writer.root(0x2700);
    let heap = analyze(&writer.finish()).unwrap();
    assert!(pairs.iter().all(|&(_, id, _)| is_live(&heap, id)));
    assert!(!is_live(&heap, 0x2600));
    let array = heap.objects.at(base::units::ObjectAddress(0x2700)).unwrap();
    assert_eq!(heap.objects.class_of(array).name, "int[]");
    assert_eq!(heap.shallow_size(array), 24);
}

#[test]
fn a_heap_whose_length_is_not_known_is_read_to_the_end() {
    let mut writer = Writer::new(true);
    base_classes(&mut writer);
    writer.array(0x2000, OBJECT_CLASS, &[0x3000, 0]);
    writer.bytes(0x3000, b"abc");
    writer.root(0x2000);
    let opened = open(&writer.finish_open(), Tolerance::default()).unwrap();
    assert!(is_live(&opened.heap, 0x3000));
    assert!(!opened.heap.is_partial);
}

#[test]
fn roots_have_kinds() {
    let mut writer = Writer::new(true);
    base_classes(&mut writer);
    for id in [0x2000, 0x2100, 0x2200] {
        writer.instance(id, OBJECT_CLASS, &[]);
    }
    writer.raw(0x01, 0x2000, &[0; 8]);
    writer.raw(0x03, 0x2100, &[0, 0, 0, 1, 0, 0, 0, 0]);
    let heap = analyze(&writer.finish()).unwrap();
    let kind = |address| {
        let object = heap
            .objects
            .at(base::units::ObjectAddress(address))
            .unwrap();
        let root = heap.roots.iter().find(|&&(root, _)| root == object);
        root.map(|&(_, kind)| kind)
    };
    assert_eq!(kind(0x2000), Some(RootKind::System));
    assert_eq!(kind(0x2100), Some(RootKind::Stack));
    assert_eq!(kind(0x2200), None);
    assert_eq!(kind(OBJECT_CLASS), Some(RootKind::Global));
    assert_eq!(heap.address(ObjectIndex(0)).0, OBJECT_CLASS);
}
