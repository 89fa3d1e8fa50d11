/** A label in the form that follows the name of a class, by the engine's rule: `Node.next`, `Map->tickets`, `Set key`. */
export function afterClass(label: string): string {
  if (/^([[+({]|->)/.test(label)) return label;
  return label.includes(" ") ? ` ${label}` : `.${label}`;
}
