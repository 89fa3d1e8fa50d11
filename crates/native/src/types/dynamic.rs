//! Pointers of Rust with a table of functions beside them: `Box<dyn Trait>`, `&dyn Trait`, `Rc<dyn Trait>`, `Arc<dyn Trait>`.
//! The table says of which type the value is.

use base::error::Result;
use base::units::ObjectIndex;
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
        let Some(word) = self.word(pointer) else {
            return Ok(());
        };
        let Some((block, start, usable)) = self.block(word).filter(|found| found.1 == word) else {
            return Ok(());
        };
        let counted = target.and_then(|target| Some((target, self.counted(target)?)));
        let allocated = match (counted, concrete) {
            (_, None) => None,
            (Some((_, wrapper)), Some(concrete)) => self.counted_of(wrapper, concrete),
            (None, Some(concrete)) => Some(self.types.resolved(concrete)),
        };
        match (allocated, counted) {
            (Some(type_id), _) if self.fits_once(type_id, usable) => {
                self.assign_type(block, BlockType::one(type_id, TypeEvidence::Dynamic))?;
                self.place(start, type_id, 1)
            }
            (None, Some((target, _))) => self.counters(block, (start, usable), target, concrete),
            _ => Ok(()),
        }
    }

    /// What `Rc` or `Arc` allocated for a value whose counters the debug information does not describe: they have the size that
    /// they have for any value.
    fn counters(
        &mut self,
        block: ObjectIndex,
        (start, usable): (u32, u32),
        target: TypeId,
        concrete: Option<TypeId>,
    ) -> Result<()> {
        let header = self.types.size(target);
        let value = concrete.map_or(0, |concrete| self.types.size(concrete));
        let bytes = header.saturating_add(value);
        let is_filled = bytes.saturating_add(self.slack(usable)) > usable;
        if header == 0 || bytes > usable || concrete.is_some() && !is_filled {
            return Ok(());
        }
        self.assign_type(block, BlockType::one(target, TypeEvidence::Field))?;
        // The strong counter comes first.
        let is_alive = self.word(start).is_some_and(|strong| strong != 0);
        if let Some(concrete) = concrete.filter(|_| is_alive) {
            self.place(start + header, concrete, 1)?;
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
