// User classes that extend containers, and a hierarchy of user classes.
import { judge } from "./support/host";

class Item {
  constructor(public tag: i32) {}
}

class Stack extends Array<Item> {
  note: Item | null = null;
  size: i64 = 7;
}
class NamedStack extends Stack {
  title: string = "";
}
class Index extends Map<string, Item> {
  fallback: Item | null = null;
}
class Numbers extends Map<i64, f32> {
  owner: Item | null = null;
}
class Group extends Set<Item> {
  leader: Item | null = null;
}
class Bytes extends Uint8Array {
  owner: Item | null = null;
}

class Animal {
  name: string = "";
  legs: i8 = 4;
}
class Dog extends Animal {
  age: u16 = 3;
  tail: Item | null = null;
}
class Puppy extends Dog {
  mother: Dog | null = null;
}

let stack = new Stack();
let named = new NamedStack();
let index = new Index();
let numbers = new Numbers();
let group = new Group();
let bytes: Bytes | null = null;
let animals: Animal[] = [];

function build(): void {
  for (let i = 0; i < 7; i++) {
    stack.push(new Item(i));
    named.push(new Item(i));
    index.set(i.toString(), new Item(i));
    numbers.set(i, <f32>i);
    group.add(new Item(i));
  }
  stack.note = new Item(100);
  named.note = new Item(101);
  named.title = "title".repeat(2);
  index.fallback = new Item(102);
  numbers.owner = new Item(103);
  group.leader = new Item(104);
  const own = new Bytes(12);
  own.owner = new Item(105);
  bytes = own;
  const dog = new Dog();
  dog.name = "dog" + (1).toString();
  dog.tail = new Item(1);
  const puppy = new Puppy();
  puppy.name = "puppy" + (1).toString();
  puppy.tail = new Item(2);
  puppy.mother = dog;
  animals.push(puppy);
  animals.push(new Animal());
}

export function main(): void {
  build();
  judge(0);
  stack.length = 2;
  stack.note = null;
  named.shift();
  index.delete("3");
  group.clear();
  numbers.owner = null;
  (<Dog>animals[0]).tail = null;
  judge(1);
  animals.shift();
  named = new NamedStack();
  bytes = null;
  judge(2);
}
