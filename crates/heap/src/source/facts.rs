//! What holds for every object of a heap, as data.

use crate::class_use::ClassUse;

/// What is the same for all objects of a source.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Equal for sources whose addresses can be compared, such as dumps of one module.
    pub program: u64,
    /// Whether its objects have numbers of this file alone, so that none can be found in another file.
    pub is_numbered_anew: bool,
    /// Whether there is a module beside the input.
    pub has_module: bool,
    /// Whether the number of an object is its own as long as the program runs: no other object gets it later.
    pub keeps_numbers: bool,
    /// How many references of an object, from its last on, may lead to its own contents.
    pub storage_references: usize,
    /// The format of an export in which the input itself is.
    pub format: Option<&'static str>,
    /// What is known of classes by their names.
    pub classes: ClassFacts,
    /// What the heap lacks.
    pub lacks: Lacks,
}

/// What is known of classes by their names.
#[derive(Clone, Debug, Default)]
pub struct ClassFacts {
    /// The names of the classes of texts that have the size of their contents, with the bytes of a character: the texts
    /// of numbers that gain digits grow without a leak.
    pub texts: &'static [(&'static str, u64)],
    /// The names of the classes of what the engine that runs the program makes for itself, such as compiled code. It
    /// comes and goes as the engine sees fit, so that it is no growth of the program.
    pub engine: &'static [&'static str],
    /// The names of classes that programs, hosts and libraries use for everything, such as plain objects. That there are
    /// more of them in no one place says nothing of the program.
    pub plain: &'static [&'static str],
    /// What the objects of classes are used for. The first that fits holds; other classes are the program's.
    pub uses: Vec<(ClassPattern, ClassUse)>,
}

impl ClassFacts {
    /// What the objects of the class with this name are used for.
    pub fn class_use(&self, name: &str) -> ClassUse {
        let known = self.uses.iter().find(|(pattern, _)| pattern.fits(name));
        known.map_or(ClassUse::Program, |&(_, class_use)| class_use)
    }
}

/// Names of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassPattern {
    /// This name.
    Is(&'static str),
    /// All that begin so.
    Begins(&'static str),
}

impl ClassPattern {
    fn fits(self, name: &str) -> bool {
        match self {
            Self::Is(known) => name == known,
            Self::Begins(start) => name.starts_with(start),
        }
    }
}

/// What heaps of a kind lack, each with the reason. A question that needs it says that it cannot be answered, and why.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lacks {
    /// The code of these errors.
    pub code: &'static str,
    /// What a sentence calls the heap: `a heap snapshot of V8`.
    pub heap: &'static str,
    /// Why it has no objects that are not alive.
    pub garbage: Option<&'static str>,
    /// Why it does not say what objects contain: strings, elements and entries.
    pub contents: Option<&'static str>,
    /// Why it does not say at which addresses allocation functions returned blocks.
    pub blocks: Option<&'static str>,
}
