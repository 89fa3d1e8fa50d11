// A program that never allocates, and one dump after an allocation that leaves nothing.
import { judge } from "./support/host";

class Node {
  next: Node | null = null;
}

export function main(): void {
  judge(0);
  new Node();
  judge(1);
}
