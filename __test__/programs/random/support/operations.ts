// The operations of a stream. The program and the judge that writes the streams both read this file. Every
// operation has three operands.
export enum Operation {
  /** No more operations. */
  End,
  /** A node of class `a`, referred to by field `c` of the node at path `b`. */
  MakeNode,
  /** Sets field `c` of the node at path `a` to the node at path `b`. */
  Link,
  /** Clears field `c` of the node at path `a`; `b` picks among several references behind one field. */
  Unlink,
  /** Sets root `a` to the node at path `b`. */
  SetRoot,
  /** Clears root `a`. */
  ClearRoot,
  /** Replaces, shortens or empties the container of root `a`. */
  ChangeRegistry,
  /** A container of kind `a`, kept in the place `b`, filled with `c` elements. */
  MakeContainer,
  /** Has the container at `a` do `b` with `c`. */
  UseContainer,
  /** Releases the container at `a`. */
  DropContainer,
  /** Something of kind `a` that is no node, referred to by the node at path `b`; `c` varies it. */
  Attach,
  /** `b` objects of kind `a` that nothing keeps. */
  MakeGarbage,
  /** Pins the node at path `a`, or an object of another kind. */
  Pin,
  /** Unpins the `a`th pinned object. */
  Unpin,
  /** A raw block of `a` bytes with contents `b`; `c` varies them. */
  MakeRaw,
  /** Frees the `a`th raw block. */
  FreeRaw,
  /** Resizes the `a`th raw block to `b` bytes. */
  ResizeRaw,
  /** A ring of `a` raw blocks with the colour `b`. */
  MakeRawRing,
  /** `a` pages that the allocator does not know, with contents `b`. */
  GrowMemory,
  /** An object too large for the free memory, kept if `a` is odd. */
  MakeLarge,
  /** Calls a function of kind `a` whose frame holds objects made from path `b`; the next operations run in it. */
  Call,
  /** Returns from such a function. */
  Return,
  /** A whole collection. */
  Collect,
  /** Dump, collection, dump. */
  Judge,
  /** `a` times in a row: a collection, a dump, the host cuts a reference, a collection, a dump. */
  CutReferences,
}
