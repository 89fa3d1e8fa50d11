/**
 * A property descriptor without a prototype: a program may have added `get`, `set` or `value` to
 * Object.prototype, and `Object.defineProperty` would take them for parts of the descriptor.
 */
export function descriptor(parts: PropertyDescriptor): PropertyDescriptor {
  return Object.assign(Object.create(null), parts);
}
