//! Values that may have been destroyed while their memory is still there: what counters of references and flags say.

use super::super::container_kind::MemberPart;
use super::super::spread::Spread;
use super::super::table::TypeId;
use base::error::Result;

/// What libc++ has for the number of owners when there is none: the number of owners less one.
const NO_OWNER: u32 = u32::MAX;
/// The most types of a variant that are looked at.
const MOST_TYPES: u32 = 64;

impl Spread<'_, '_> {
    /// What `Rc` and `Arc` allocate. While only a `Weak` refers to it, the value is dropped. `None` if the members are other
    /// ones than those of the versions that are known.
    pub(super) fn counted_value(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        // A counter has such a member too.
        let member = |name| self.types.member(id, name);
        let value = member("value").or_else(|| member("data"));
        let strong = self.part_word(address, id, &["strong"]);
        let (Some(value), Some(strong)) = (value, strong) else {
            return Ok(None);
        };
        let at = address.checked_add(value.offset);
        if let Some(at) = at.filter(|_| strong != 0) {
            self.place(at, value.type_id, 1)?;
        }
        Ok(Some(()))
    }

    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn cpp_weak(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let types = self.types;
        let pointer = self
            .parts
            .part(id, "__ptr_")
            .and_then(|part| types.pointee(part.type_id));
        let counters = self
            .parts
            .part(id, "__cntrl_")
            .and_then(|part| types.pointee(part.type_id));
        let owners = counters.and_then(|counters| self.parts.part(counters, "__shared_owners_"));
        let words = ["__ptr_", "__cntrl_"].map(|name| self.part_word(address, id, &[name]));
        let (Some(target), Some(counters), Some(owners), [Some(word), Some(block)]) =
            (pointer, counters, owners, words)
        else {
            return Ok(None);
        };
        self.refer(block, counters, false)?;
        let owners = block.checked_add(owners.offset);
        let owners = owners.and_then(|at| self.word(at));
        if owners.is_some_and(|owners| owners != NO_OWNER) {
            self.refer(word, target, false)?;
        }
        Ok(Some(()))
    }

    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn cpp_optional(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let value = self.parts.part(id, "__val_");
        let (Some(value), Some(is_there)) = (value, self.parts.part(id, "__engaged_")) else {
            return Ok(None);
        };
        let is_there = address.checked_add(is_there.offset);
        let is_there = is_there.and_then(|at| self.byte(at));
        let at = address.checked_add(value.offset);
        if let Some(at) = at.filter(|_| is_there.is_some_and(|byte| byte != 0)) {
            self.place(at, value.type_id, 1)?;
        }
        Ok(Some(()))
    }

    /// Nested unions, each of one of the types and of the rest. `None` if the members are other ones than those of the
    /// versions that are known.
    pub(super) fn cpp_variant(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let types = self.types;
        let (Some(index), Some(mut data)) = (
            self.parts.part(id, "__index"),
            self.parts.part(id, "__data"),
        ) else {
            return Ok(None);
        };
        let at = address.checked_add(index.offset);
        let number = match types.size(index.type_id) {
            1 => at.and_then(|at| self.byte(at)).map(u32::from),
            4 => at.and_then(|at| self.word(at)),
            _ => return Ok(None),
        };
        // Without a value, it is the largest number.
        let Some(number) = number.filter(|&number| number < MOST_TYPES) else {
            return Ok(Some(()));
        };
        let inside = |outer: MemberPart, name| {
            let inner = types.member(types.resolved(outer.type_id), name)?;
            Some(MemberPart {
                offset: outer.offset.checked_add(inner.offset)?,
                type_id: inner.type_id,
            })
        };
        for _ in 0..number {
            let Some(tail) = inside(data, "__tail") else {
                return Ok(None);
            };
            data = tail;
        }
        let Some(value) = inside(data, "__head") else {
            return Ok(None);
        };
        if let Some(at) = address.checked_add(value.offset) {
            self.place(at, value.type_id, 1)?;
        }
        Ok(Some(()))
    }
}
