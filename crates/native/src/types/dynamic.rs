//! Pointers of Rust with a table of functions beside them: `Box<dyn Trait>`, `&dyn Trait`, `Rc<dyn Trait>`, `Arc<dyn Trait>`.
//! The table says of which type the value is.

use base::error::Result;
use heap::TypeEvidence;

use super::spread::{BlockType, Spread};
use super::table::{DEEPEST, TypeId};

/// What `Rc` and `Arc` allocate, by the names of all versions: two counters before the value.
const COUNTED: [&str; 3] = ["RcInner", "RcBox", "ArcInner"];

impl Spread<'_, '_> {
    /// The word at an address refers to a value, of which the word at another address says the type. `target` is what the
    /// type of the pointer says.
    pub(super) fn refer_by_table(
        &mut self,
        pointer: u32,
        table: Option<u32>,
        target: Option<TypeId>,
    ) -> Result<()> {
        let table = table.and_then(|at| self.word(at));
        let concrete = table.and_then(|table| self.tables.get(&table)).copied();
        let (Some(concrete), Some(word)) = (concrete, self.word(pointer)) else {
            return Ok(());
        };
        let wrapper = target.and_then(|target| self.counted(target));
        let allocated = match wrapper {
            Some(wrapper) => self.counted_of(wrapper, concrete),
            None => Some(self.types.resolved(concrete)),
        };
        if let Some(type_id) = allocated
            && let Some((block, start, usable)) = self.block(word)
            && start == word
            && self.fits_once(type_id, usable)
        {
            self.assign_type(
                block,
                BlockType {
                    type_id,
                    is_array: false,
                    evidence: TypeEvidence::Dynamic,
                    base: 0,
                },
            )?;
            self.place(word, type_id, 1)?;
        }
        Ok(())
    }

    /// The name before the arguments of what `Rc` or `Arc` refers to, if that is what the type is.
    pub(super) fn counted(&self, target: TypeId) -> Option<&'static str> {
        let name = self.types.get(target).name;
        let start = name.split('<').next()?;
        let counted = COUNTED.into_iter().find(|&counted| counted == start)?;
        self.types.is_of_library(target).then_some(counted)
    }

    /// The type that `Rc` or `Arc` allocates for a value of a type, if the debug information describes it.
    fn counted_of(&self, wrapper: &str, value: TypeId) -> Option<TypeId> {
        let name = format!("{wrapper}<{}>", self.types.full_name(value, DEEPEST));
        self.types.named(&name).first().copied()
    }
}
