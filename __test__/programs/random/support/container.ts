// The interface of all containers. It is a separate file, because nodes and roots refer to containers.

export abstract class Container {
  abstract use(what: i32, n: i32): void;
}
