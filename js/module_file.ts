/** The file of a module of AssemblyScript, which the names of its classes and variables begin with. */

/**
 * The file of a class of AssemblyScript, whose name begins with the path of its module: `assembly/game.ts` of
 * `assembly/game/Player<i32>`. Undefined for what has no module.
 */
export function moduleFileOf(className: string): string | undefined {
  const [, module] = /^([^\s<>()|,]+)\/[^/\s<>()|,]+(?:<.*>)?$/s.exec(className) ?? [];
  return module === undefined ? undefined : `${module}.ts`;
}
