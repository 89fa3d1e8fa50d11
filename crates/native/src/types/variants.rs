//! Values of types with variants, as Rust's `enum`: which members they have, a number in them says.

use base::error::Result;

use super::spread::Spread;
use super::table::{MemberKind, TypeId};

impl Spread<'_, '_> {
    /// Follows the members that a value of a type with variants has, by its discriminant.
    pub(super) fn follow_variant(
        &mut self,
        address: u32,
        owner: TypeId,
        is_guess: bool,
        depth: u32,
    ) -> Result<()> {
        let members = self.types.members(owner);
        let discriminant = members
            .iter()
            .find(|member| member.kind == MemberKind::Discriminant);
        let value = discriminant.and_then(|member| {
            let at = address.checked_add(member.offset)?;
            let size = self.types.size(member.type_id).min(8);
            let bytes = self.bytes(at, size)?;
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            // A value may be written with its sign.
            Some((
                u64::from_le_bytes(value),
                u64::MAX >> (64 - 8 * size.max(1)),
            ))
        });
        let is = |kind: MemberKind| match (kind, value) {
            (MemberKind::Variant(Some(wanted)), Some((value, mask))) => wanted & mask == value,
            _ => false,
        };
        let chosen = members.iter().find(|member| is(member.kind));
        let is_known = discriminant.is_none() || value.is_some();
        let chosen = chosen.or_else(|| {
            let mut members = members.iter();
            members.find(|member| is_known && member.kind == MemberKind::Variant(None))
        });
        if let Some(member) = chosen
            && let Some(at) = address.checked_add(member.offset)
        {
            let type_id = self.types.resolved(member.type_id);
            let plan = self.plans.get(self.types, type_id);
            self.follow_slots(at, &plan, is_guess, depth)?;
        }
        Ok(())
    }
}
