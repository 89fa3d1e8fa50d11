//! The sizes of objects. A dump does not have them: they follow from the fields, by the rules of a JVM. By which ones, the
//! distances between objects show: none is larger than its distance to the next, and most are as large.

use crate::bytes::{IdSize, JavaType};
use crate::classes::{JavaClass, JavaClasses};
use crate::field_layout::{FieldLayout, FieldRules, UNIT};
use crate::table::Distances;

/// By wide references: a JVM does not compress those of a larger heap.
const LARGEST_COMPRESSED: u64 = 32 << 30;

const RULES_64: [FieldRules; 6] = [
    // Compressed references and class pointers; references alone; class pointers alone; none.
    FieldRules::new(12, 16, 4, true),
    FieldRules::new(12, 16, 4, false),
    FieldRules::new(16, 24, 4, true),
    FieldRules::new(12, 16, 8, true),
    FieldRules::new(16, 24, 8, true),
    FieldRules::new(16, 24, 8, false),
];
/// Headers of 8 bytes, as of newer versions: only if nothing else fits.
const COMPACT: FieldRules = FieldRules::new(8, 12, 4, true);
const RULES_32: [FieldRules; 2] = [
    FieldRules::new(8, 12, 4, true),
    FieldRules::new(8, 12, 4, false),
];

/// The part of instances whose size must be their distance, so that distances correct sizes upwards: per cent.
const DENSE: u64 = 80;
/// Instances that must agree about a size that is larger than its fields.
const AGREEING: u64 = 3;

/// The sizes of the instances of each class, and by which rules they were found.
#[derive(Debug)]
pub(crate) struct InstanceSizes {
    pub(crate) rules: FieldRules,
    /// By class.
    pub(crate) sizes: Vec<u64>,
    /// Of an object of `java.lang.Class` without statics.
    class_object: u64,
    /// The part of instances that end where the next object begins; `None` if there are too few.
    pub(crate) exact_percent: Option<u64>,
}

/// What the sizes follow from.
pub(crate) struct SizeEvidence<'e> {
    pub(crate) classes: &'e JavaClasses,
    /// By slot, of instances.
    pub(crate) distances: &'e [Distances],
    pub(crate) ids: IdSize,
    /// From the first object to the last.
    pub(crate) span: u64,
    /// The slot of `java.lang.Class`.
    pub(crate) class_objects: u32,
    /// The smallest distance of a class object without statics.
    pub(crate) plain_class_object: Option<u64>,
}

/// How well rules fit.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    /// Instances that would reach into the next object.
    too_large: u64,
    /// Instances that end where the next object begins.
    exact: u64,
    total: u64,
}

impl SizeEvidence<'_> {
    pub(crate) fn sizes(&self) -> InstanceSizes {
        let order = self.by_depth();
        let candidates: &[FieldRules] = match self.ids {
            IdSize::Four => &RULES_32,
            IdSize::Eight => &RULES_64,
        };
        let mut best: Option<(Fit, FieldRules, Vec<u64>)> = None;
        let first = candidates.first().copied().unwrap_or(COMPACT);
        let is_wide = self.ids == IdSize::Eight && self.span > LARGEST_COMPRESSED;
        let candidates = candidates.iter().copied().chain([COMPACT]);
        for rules in candidates.filter(|rules| !is_wide || rules.reference == 8) {
            let sizes = self.by_rules(&order, rules);
            let fit = self.fit(&sizes);
            let is_better = best
                .as_ref()
                .is_none_or(|(known, ..)| fit.score() > known.score());
            if is_better {
                best = Some((fit, rules, sizes));
            }
        }
        let (fit, rules, mut sizes) = best.unwrap_or((Fit::default(), first, Vec::new()));
        self.correct(&order, rules, &mut sizes, fit);
        let own = sizes.get(self.class_objects as usize).copied();
        let class_object = self.plain_class_object.or(own).unwrap_or(UNIT * 2);
        InstanceSizes {
            rules,
            sizes,
            class_object,
            exact_percent: (fit.total >= MOST_FEW).then(|| fit.exact * 100 / fit.total),
        }
    }

    /// Classes after their superclasses.
    fn by_depth(&self) -> Vec<u32> {
        let mut order: Vec<(usize, u32)> = (0..self.classes.all.len() as u32)
            .map(|class| (self.classes.hierarchy(class).count(), class))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, class)| class).collect()
    }

    fn by_rules(&self, order: &[u32], rules: FieldRules) -> Vec<u64> {
        let empty = FieldLayout::new(rules);
        let mut layouts: Vec<Option<FieldLayout>> = vec![None; order.len()];
        for &nth in order {
            let class = &self.classes.all[nth as usize];
            let above = class
                .superclass
                .and_then(|above| layouts[above as usize].as_ref());
            let fields = class.fields.iter().map(|field| field.java_type);
            let injected = injected(class, rules);
            let layout = above
                .unwrap_or(&empty)
                .with_fields(fields.chain(injected), rules);
            layouts[nth as usize] = Some(layout);
        }
        let size = |layout: Option<FieldLayout>| layout.map_or(UNIT * 2, |layout| layout.size());
        layouts.into_iter().map(size).collect()
    }

    fn fit(&self, sizes: &[u64]) -> Fit {
        let mut fit = Fit::default();
        for (&size, found) in sizes.iter().zip(self.distances) {
            fit.total += found.total;
            if size > found.smallest {
                fit.too_large += found.count;
            } else if size == found.smallest {
                fit.exact += found.count;
            }
        }
        fit
    }

    /// What the JVM adds to objects for itself is not in the file: fields of its own, and space around fields that several
    /// threads write. Subclasses have it too.
    fn correct(&self, order: &[u32], rules: FieldRules, sizes: &mut [u64], fit: Fit) {
        let is_dense = fit.exact * 100 >= fit.total * DENSE && fit.total > 0;
        let mut added = vec![0; sizes.len()];
        for &nth in order {
            let class = &self.classes.all[nth as usize];
            let nth = nth as usize;
            let found = self.distances[nth];
            let inherited = class.superclass.map_or(0, |above| added[above as usize]);
            let own = class
                .fields
                .iter()
                .map(|field| u64::from(rules.size_of(field.java_type)));
            let size = match class.superclass {
                // Behind the space that follows the fields of the superclass.
                Some(above) if inherited >= PADDING => {
                    (sizes[above as usize] + own.sum::<u64>()).next_multiple_of(UNIT)
                }
                _ => sizes[nth] + inherited,
            };
            let agree = found.count >= AGREEING && found.count * 2 > found.total;
            let is_padded = CONTENDED.contains(&class.name.as_str());
            let is_larger = (is_dense && agree || is_padded) && found.smallest < size + MOST_ADDED;
            let is_smaller = found.total > 0 && found.smallest < size;
            let corrected = if is_smaller || is_larger && found.total > 0 {
                found.smallest
            } else {
                size
            };
            added[nth] = corrected.saturating_sub(sizes[nth]);
            sizes[nth] = corrected;
        }
    }
}

/// The space around fields that several threads write.
const PADDING: u64 = 128;

/// Classes with fields that several threads write, of which a program has few objects.
const CONTENDED: [&str; 5] = [
    "java.lang.Thread",
    "java.util.concurrent.ConcurrentHashMap$CounterCell",
    "java.util.concurrent.ForkJoinPool",
    "java.util.concurrent.ForkJoinPool$WorkQueue",
    "java.util.concurrent.atomic.Striped64$Cell",
];

/// Of fewer instances, distances say nothing.
const MOST_FEW: u64 = 1000;

/// Bytes that a JVM may add to an object, at most.
const MOST_ADDED: u64 = 512;

/// Fields that HotSpot adds to classes of its own.
fn injected(class: &JavaClass, rules: FieldRules) -> impl Iterator<Item = JavaType> {
    let pointer = if rules.header == 8 && rules.reference == 4 && rules.array_header == 12 {
        JavaType::Int
    } else {
        JavaType::Long
    };
    let types: Vec<JavaType> = match class.name.as_str() {
        "java.lang.ClassLoader" | "java.lang.Module" => vec![pointer],
        "java.lang.invoke.ResolvedMethodName" => vec![JavaType::Object, pointer],
        "java.lang.invoke.MemberName" => vec![pointer],
        _ => Vec::new(),
    };
    types.into_iter()
}

impl Fit {
    fn score(self) -> i64 {
        self.exact as i64 - 4 * self.too_large as i64
    }
}

impl InstanceSizes {
    /// The size of an object of `java.lang.Class` without static fields.
    pub(crate) fn plain_class_object(&self) -> u64 {
        self.class_object
    }

    /// The size of the object of a class: its own fields, then the static ones. `distance` is that to the next object.
    pub(crate) fn class_object(
        &self,
        class: &JavaClass,
        classes: &JavaClasses,
        distance: u64,
    ) -> u64 {
        let fields = class.statics.iter();
        // Those in angle brackets are the JVM's own, and lie elsewhere.
        let fields = fields.filter(|field| !classes.names.text(field.name).starts_with('<'));
        let start = FieldRules {
            header: self.class_object as u32,
            ..self.rules
        };
        let layout =
            FieldLayout::new(start).with_fields(fields.map(|field| field.java_type), start);
        layout.size().min(distance)
    }
}
