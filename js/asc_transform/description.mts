/**
 * Makes a description of the debug information from the compiler's class table: the classes, the types of
 * their fields, and the globals that the collector visits.
 */
import type {
  Binaryen,
  BinaryenModule,
  Class,
  Element,
  Global,
  Program,
  PropertyPrototype,
  Signature,
  Type,
} from "./compiler.mjs";
import {
  DECORATOR_UNMANAGED,
  FLAG_COMPILED,
  FLAG_INLINED,
  KIND_CLASS,
  KIND_GLOBAL,
  KIND_PROPERTY_PROTOTYPE,
} from "./compiler.mjs";

/** The input of `encodeDebugSections`. */
export interface DebugInfoDescription {
  producer: string;
  classes: ClassDescription[];
  globals: GlobalDescription[];
}

/** A position in the list of classes, or the name of a plain value type. */
type TypeReference = { class: number } | { base: string };

interface ClassDescription {
  name: string;
  runtimeId?: number;
  base?: number;
  typeArguments: TypeReference[];
  fields: { name: string; offset: number; of: TypeReference }[];
}

interface GlobalDescription {
  name: string;
  of: TypeReference;
  constantValue?: number;
}

/** The module of the class that wraps function values. Each signature has a class of its own. */
const FUNCTION_CLASS = "~lib/function/Function<";
/** The layouts of container entries: unmanaged classes that no field refers to by type. */
const ENTRY_CLASSES = ["~lib/map/MapEntry<", "~lib/set/SetEntry<"];

/** Describes the classes and the managed globals of a compiled program. */
export function describeProgram(
  program: Program,
  module: BinaryenModule,
  binaryen: Binaryen,
): DebugInfoDescription {
  const classes = new ClassTable(program);
  for (const [, managed] of program.managedClasses) classes.position(managed);
  for (const [, element] of program.instancesByName) {
    if (isEntryClass(element)) classes.position(element);
  }
  // Before the fields, so that a class to which only a global refers is described too.
  const globals = collectorsGlobals(program).map(({ global, type }) => ({
    name: global.internalName,
    of: { class: classes.position(type) },
    ...constantValue(global, module, binaryen),
  }));
  return { producer: "warpo-heap-analyzer asc-transform", classes: classes.describeAll(), globals };
}

function isEntryClass(element: Element): element is Class {
  return (
    element.kind === KIND_CLASS &&
    ENTRY_CLASSES.some((prefix) => element.internalName.startsWith(prefix))
  );
}

/** Numbers classes in the order in which they are found. */
class ClassTable {
  readonly #positions = new Map<Class, number>();
  readonly #classes: (Class | Signature)[] = [];
  readonly #functionClasses = new Map<Signature, number>();

  constructor(program: Program) {
    for (const [, candidate] of program.managedClasses) {
      const signature = candidate.internalName.startsWith(FUNCTION_CLASS)
        ? candidate.typeArguments?.[0]?.getSignature()
        : undefined;
      if (signature) this.#functionClasses.set(signature, this.position(candidate));
    }
  }

  position(type: Class): number {
    let position = this.#positions.get(type);
    if (position === undefined) {
      position = this.#classes.push(type) - 1;
      this.#positions.set(type, position);
    }
    return position;
  }

  /** Describing a class may add more classes: the unmanaged ones to which its fields refer. */
  describeAll(): ClassDescription[] {
    const descriptions: ClassDescription[] = [];
    for (
      let next = this.#classes[0];
      next !== undefined;
      next = this.#classes[descriptions.length]
    ) {
      descriptions.push(
        "internalName" in next ? this.#describe(next) : describeUnusedFunction(next),
      );
    }
    return descriptions;
  }

  #describe(described: Class): ClassDescription {
    return {
      name: readableName(described.internalName),
      runtimeId: described.id,
      ...(described.base && { base: this.position(described.base) }),
      typeArguments: (described.typeArguments ?? []).map((type) => this.#reference(type)),
      fields: ownFields(described).map(({ name, memoryOffset, type }) => ({
        name,
        offset: memoryOffset,
        of: this.#reference(type),
      })),
    };
  }

  #reference(type: Type): TypeReference {
    const ofClass = type.getClass();
    if (ofClass) return { class: this.position(ofClass) };
    const signature = type.getSignature();
    if (signature) return { class: this.#functionPosition(signature) };
    return { base: type.kindToString() };
  }

  #functionPosition(signature: Signature): number {
    let position = this.#functionClasses.get(signature);
    if (position === undefined) {
      position = this.#classes.push(signature) - 1;
      this.#functionClasses.set(signature, position);
    }
    return position;
  }
}

/** A function type without any value in the program. The compiler gave it no class. */
function describeUnusedFunction(signature: Signature): ClassDescription {
  return {
    name: readableName(`${FUNCTION_CLASS}${signature.toString(true)}>`),
    typeArguments: [],
    fields: [],
  };
}

/**
 * The compiler writes the parentheses and commas of function types as `%28`, `%29` and `%2C`, because of
 * its text format. No other part of a class name can contain a percent sign.
 */
function readableName(internalName: string): string {
  return internalName.replaceAll("%28", "(").replaceAll("%29", ")").replaceAll("%2C", ",");
}

function ownFields(described: Class) {
  const fields = [];
  for (const [, member] of described.members ?? []) {
    if (member.kind !== KIND_PROPERTY_PROTOTYPE) continue;
    const property = (member as PropertyPrototype).instance;
    if (
      !property?.isField ||
      property.memoryOffset < 0 ||
      property.getBoundClassOrInterface() !== described
    )
      continue;
    fields.push(property);
  }
  return fields;
}

/**
 * The globals that the collector starts from. Globals of function type are not among them, because
 * function values are static.
 */
function collectorsGlobals(program: Program): { global: Global; type: Class }[] {
  const globals = [];
  for (const element of new Set(program.elementsByName.values())) {
    if (element.kind !== KIND_GLOBAL || !element.is(FLAG_COMPILED)) continue;
    const global = element as Global;
    const type = global.type.getClass();
    if (type && !type.hasDecorator(DECORATOR_UNMANAGED)) globals.push({ global, type });
  }
  return globals;
}

/** The initial value of a global, if it is a constant: the address of a static object. */
function constantValue(
  global: Global,
  module: BinaryenModule,
  binaryen: Binaryen,
): { constantValue?: number } {
  if (global.is(FLAG_INLINED)) return { constantValue: lowWord(global.constantIntegerValue) };
  const wasmGlobal = module.getGlobal(global.internalName);
  if (wasmGlobal === 0) return {};
  const { init, module: importedFrom } = binaryen.getGlobalInfo(wasmGlobal);
  if (importedFrom || init === 0) return {};
  const { id, type, value } = binaryen.getExpressionInfo(init);
  if (id !== binaryen.ExpressionIds.Const || type !== binaryen.i32 || typeof value !== "number")
    return {};
  // Zero is also the initial value of globals that the start function sets. Only `null` stays zero.
  if (value === 0 && (global.initializerNode?.range.toString() ?? "null") !== "null") return {};
  return { constantValue: value >>> 0 };
}

/** The compiler stores 64-bit constants as `Long` objects. */
function lowWord(value: Global["constantIntegerValue"]): number {
  return (typeof value === "object" ? value.low : Number(BigInt.asUintN(32, BigInt(value)))) >>> 0;
}
