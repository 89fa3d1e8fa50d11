// A program for the stub runtime: it has neither a collector nor a shadow stack.

export function greet(name: string): string {
  return "hello " + name;
}
