// The code that runs in the target. It is constant: values travel as arguments. It calls built-in functions of the
// realm and none of the objects that it looks at, and changes nothing of the program.

/**
 * On the list of all objects of a realm: reads the numbers in arrays, maps, sets, `Number` objects and typed arrays.
 *
 * Numbers that may be addresses (at least `lo`, below `hi`, aligned) are listed with their slots, all others are
 * counted by the kind of their slot. 0 and -1 mean "none" and are not counted. Views of a WebAssembly memory are left
 * out: what is in them is in the dump.
 *
 * Chromium does not list typed arrays. Then those are read that are a property, an element, or in a map or a set.
 */
export const READ_CONTAINERS = `function (lo, hi, alignment, maxElements, maxObjects, maxSlots, maxProperties) {
  const { apply, getOwnPropertyDescriptor: descriptorOf, getPrototypeOf, ownKeys } = Reflect;
  const { isArray } = Array;
  const { isPrototypeOf } = Object.prototype;
  const { forEach: eachEntry } = Map.prototype;
  const { add: addTo, forEach: eachMember } = Set.prototype;
  const { valueOf } = Number.prototype;
  const { slice } = String.prototype;
  const typedArray = getPrototypeOf(Uint8Array.prototype);
  const getter = (owner, name) => descriptorOf(owner, name).get;
  const typeOf = getter(typedArray, Symbol.toStringTag);
  const lengthOf = getter(typedArray, "length");
  const bufferOf = getter(typedArray, "buffer");
  const inherits = (object, constructor) => apply(isPrototypeOf, constructor.prototype, [object]);
  const isShared = (buffer) => typeof SharedArrayBuffer === "function" && inherits(buffer, SharedArrayBuffer);
  const WIDE = ["Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"];
  const END = {};

  const found = { objects: [], rows: [], containers: 0, cut: 0, hidden: true };
  const isTypedArray = (value) => typeof value === "object" && value !== null && apply(typeOf, value, []) !== undefined;
  for (let nth = 0; found.hidden && nth < this.length; nth++) found.hidden = !isTypedArray(this[nth]);
  const views = new Set();
  const note = (value) => { if (found.hidden && isTypedArray(value)) apply(addTo, views, [value]); };
  const memories = [];
  if (typeof WebAssembly === "object") {
    const buffer = getter(WebAssembly.Memory.prototype, "buffer");
    for (let nth = 0; nth < this.length; nth++) {
      if (!inherits(this[nth], WebAssembly.Memory)) continue;
      try { memories[memories.length] = apply(buffer, this[nth], []); } catch {}
    }
  }
  const anyShared = memories.some(isShared);
  const isMemory = (buffer) => memories.includes(buffer) || (anyShared && isShared(buffer));

  let slots, other, total = 0, isCut;
  const addressOf = (value) => {
    if (typeof value === "bigint") return value > 0n && value <= 0xffffffffn ? Number(value) : value === 0n || value === -1n ? 0 : -1.5;
    if (typeof value !== "number" || value === 0 || value === -1) return 0;
    return value < 0 && (value | 0) === value ? value + 4294967296 : value;
  };
  const mayBeAddress = (number) => number >= lo && number < hi && number % alignment === 0;
  const put = (kind, name, value, key) => {
    note(value);
    const number = addressOf(value);
    if (number === 0) return;
    if (mayBeAddress(number) && total < maxSlots) {
      total++;
      slots[slots.length] = key === undefined ? [name, number] : [name, number, key];
    } else {
      if (mayBeAddress(number)) isCut = true;
      other[kind] = (other[kind] ?? 0) + 1;
    }
  };
  const elements = (object, length, element) => {
    if (length > maxElements) isCut = true;
    const end = Math.min(length, maxElements);
    for (let nth = 0; nth < end; nth++) put("i", nth, element(object, nth));
    if (slots.length === 0 || other.i === undefined) return undefined;
    const steps = [];
    for (let step = 2; step <= 8; step++) steps[step - 2] = new Array(step).fill(0);
    for (let nth = 0; nth < end; nth++) {
      const number = addressOf(element(object, nth));
      if (number === 0 || mayBeAddress(number)) continue;
      for (let step = 2; step <= 8; step++) steps[step - 2][nth % step]++;
    }
    return steps;
  };
  const ofArray = (array, nth) => { const own = descriptorOf(array, nth); return own && own.value; };
  const ofTypedArray = (array, nth) => array[nth];
  const keyText = (key) => typeof key === "string" ? apply(slice, key, [0, 40]) : typeof key === "number" ? "" + key : undefined;
  const bounded = (each, object, visit) => {
    let count = 0;
    try {
      apply(each, object, [(value, key) => {
        if (count++ === maxElements) { isCut = true; throw END; }
        visit(value, key);
      }]);
    } catch (error) { if (error !== END) return false; }
    return true;
  };

  let properties = 0;
  const noteProperties = (object) => {
    try {
      const keys = ownKeys(object);
      properties += keys.length;
      if (properties > maxProperties) { found.cut++; return; }
      for (let nth = 0; nth < keys.length; nth++) {
        const own = descriptorOf(object, keys[nth]);
        if (own) note(own.value);
      }
    } catch {}
  };
  const read = (object) => {
    slots = [];
    other = Object.create(null);
    isCut = false;
    let kind, steps;
    if (isArray(object)) {
      kind = "Array";
      steps = elements(object, object.length, ofArray);
    } else if ((kind = apply(typeOf, object, [])) !== undefined) {
      if (!WIDE.includes(kind) || isMemory(apply(bufferOf, object, []))) return;
      steps = elements(object, apply(lengthOf, object, []), ofTypedArray);
    } else if (inherits(object, Map)) {
      kind = "Map";
      const visit = (value, key) => { put("key", "key", key); put("value", "value", value, keyText(key)); };
      if (!bounded(eachEntry, object, visit)) return;
    } else if (inherits(object, Set)) {
      kind = "Set";
      if (!bounded(eachMember, object, (member) => put("member", "member", member))) return;
    } else if (inherits(object, Number)) {
      kind = "Number";
      try { put("[[PrimitiveValue]]", "[[PrimitiveValue]]", apply(valueOf, object, [])); } catch { return; }
    } else return;
    found.containers++;
    if (isCut) found.cut++;
    if (slots.length === 0) return;
    if (found.objects.length === maxObjects) { if (!isCut) found.cut++; return; }
    found.objects[found.objects.length] = object;
    found.rows[found.rows.length] = { kind, slots, other, steps };
  };
  for (let nth = 0; nth < this.length; nth++) {
    if (typeof this[nth] === "object") read(this[nth]);
    if (found.hidden && !isArray(this[nth])) noteProperties(this[nth]);
  }
  apply(eachMember, views, [(view) => read(view)]);
  return found;
}`;

/** On the result of {@link READ_CONTAINERS}: what it counted. */
export const READ_COUNTS =
  "function () { return { objects: this.objects.length, containers: this.containers, cut: this.cut, hidden: this.hidden }; }";

/** On the result of {@link READ_CONTAINERS}: rows from a position on, as many as have about this many slots. */
export const READ_ROWS = `function (from, maxRows, maxSlots) {
  const rows = [];
  let slots = 0;
  for (let nth = from; nth < this.rows.length && rows.length < maxRows && slots < maxSlots; nth++) {
    rows[rows.length] = this.rows[nth];
    slots += this.rows[nth].slots.length;
  }
  return rows;
}`;

/** On the result of {@link READ_CONTAINERS}: the objects of some rows. */
export const READ_OBJECTS = "function (from, to) { return this.objects.slice(from, to); }";

/** On the list of all objects of a realm: the functions that have a source. */
export const FIND_FUNCTIONS = `function (maxFunctions) {
  const { apply } = Reflect;
  const { toString } = Function.prototype;
  const { endsWith } = String.prototype;
  const objects = [];
  let more = 0;
  for (let nth = 0; nth < this.length; nth++) {
    const candidate = this[nth];
    if (typeof candidate !== "function") continue;
    if (apply(endsWith, apply(toString, candidate, []), ["{ [native code] }"])) continue;
    if (objects.length < maxFunctions) objects[objects.length] = candidate;
    else more++;
  }
  return { objects, more };
}`;

/** On the result of {@link FIND_FUNCTIONS}: how many there are. */
export const COUNT_FUNCTIONS =
  "function () { return { functions: this.objects.length, more: this.more }; }";
