// What all containers have in common. A file of its own, because nodes and roots refer to containers.

export abstract class Container {
  abstract use(what: i32, n: i32): void;
}
