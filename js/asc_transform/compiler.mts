/**
 * Types for the parts of the AssemblyScript compiler and of binaryen that the transform uses.
 *
 * They are declared here and not imported. The compiler publishes its enums as `const enum`s, which do
 * not exist at run time, and its types as a global script, which conflicts with other globals.
 */

/** The properties that the compiler sets on a transform. */
export interface Compiler {
  program: Program;
  binaryen: Binaryen;
  stderr: { write(text: string): void };
}

/** A compiled program. */
export interface Program {
  options: CompilerOptions;
  /** Classes by runtime id. */
  managedClasses: Map<number, Class>;
  /** All declared elements by internal name. An alias may list an element twice. */
  elementsByName: Map<string, Element>;
  /** All elements with concrete type arguments, by internal name. */
  instancesByName: Map<string, Element>;
}

export interface CompilerOptions {
  target: number;
  runtime: number;
  debugInfo: boolean;
}

export const TARGET_WASM32 = 0;
export const RUNTIME_STUB = 0;

/** A declared element of the kind `kind`. */
export interface Element {
  kind: number;
  /** Its name with the module path, unique in the program. */
  internalName: string;
  is(flags: number): boolean;
  hasDecorator(flags: number): boolean;
}

export const KIND_GLOBAL = 0;
export const KIND_CLASS = 7;
export const KIND_PROPERTY_PROTOTYPE = 10;

/** Flag of an element: code for it was generated. */
export const FLAG_COMPILED = 1 << 23;
/** Flag of a global: its value is inlined at every use, and there is no wasm global. */
export const FLAG_INLINED = 1 << 25;
/** Decorator flag of a class: its instances have no object header. */
export const DECORATOR_UNMANAGED = 1 << 4;

export interface Class extends Element {
  /** The runtime id; 0 for unmanaged classes. */
  id: number;
  name: string;
  base: Class | null;
  typeArguments: Type[] | null;
  /** Own and inherited members. */
  members: Map<string, Element> | null;
}

/** A class member that is a field or an accessor, before it is bound to a class. */
export interface PropertyPrototype extends Element {
  instance: Property | null;
}

export interface Property {
  name: string;
  type: Type;
  isField: boolean;
  /** Offset from the object's address; −1 if it takes no space, as in interfaces. */
  memoryOffset: number;
  getBoundClassOrInterface(): Class | null;
}

export interface Type {
  /** The class, if it is a reference to one. */
  getClass(): Class | null;
  /** The signature, if it is a reference to a function. */
  getSignature(): Signature | null;
  /** The name of a plain value type, such as `i32`. */
  kindToString(): string;
}

export interface Signature {
  toString(validWat?: boolean): string;
}

export interface Global extends Element {
  type: Type;
  /** The value of an inlined integer constant. */
  constantIntegerValue: { low: number } | bigint | number;
  initializerNode: { range: { toString(): string } } | null;
}

/** The compiler's binaryen. */
export interface Binaryen {
  Features: { MutableGlobals: number };
  ExpressionIds: { Const: number };
  i32: number;
  getGlobalInfo(global: number): { mutable: boolean; init: number; module: string | null };
  getExpressionInfo(expression: number): { id: number; type: number; value?: unknown };
}

/** A module under construction. References are pointers; 0 stands for none. */
export interface BinaryenModule {
  getFeatures(): number;
  getGlobal(name: string): number;
  getExport(name: string): number;
  addGlobalExport(internalName: string, externalName: string): number;
  addCustomSection(name: string, contents: Uint8Array): void;
  emitBinary(): Uint8Array;
  emitBinary(sourceMapUrl: string | null): { binary: Uint8Array; sourceMap: string | null };
}
