//! What is known of the buffer of a container.

use base::units::ObjectIndex;

use super::table::TypeId;

/// A container, by where it lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContainerPlace {
    pub(super) address: u32,
    /// Its bytes.
    pub(super) size: u32,
}

/// Elements to which a container refers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContainerElements {
    pub(super) holder: ContainerPlace,
    /// The address of the first element.
    pub(super) start: u32,
    pub(super) element: TypeId,
    /// The elements for which there is room.
    pub(super) capacity: u32,
    pub(super) used: u32,
}

/// A buffer of a container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContainerUse {
    /// The address of the container.
    pub(crate) holder: u32,
    pub(crate) buffer: ObjectIndex,
    /// The bytes of the buffer that it needs for its elements.
    pub(crate) used: u32,
    /// Whether these are the first ones of the buffer.
    pub(crate) is_from_start: bool,
    /// The words of the container that refer to the buffer.
    pub(crate) references: u32,
}

/// Which bytes of a buffer hold elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum UsedBytes {
    /// So many from the start on.
    First(u32),
    /// So many somewhere.
    Any(u32),
}
