// Interfaces, generic classes and abstract classes: the class of an object is not that of the field.
import { judge } from "./support/host";

interface Shape {
  area(): f64;
  label: string;
}
interface Named extends Shape {
  name(): string;
}

class Circle implements Shape {
  label: string = "circle".repeat(1);
  constructor(public radius: f64) {}
  area(): f64 {
    return this.radius;
  }
}
class Square implements Named {
  label: string = "square".repeat(1);
  owner: Shape | null = null;
  area(): f64 {
    return 1;
  }
  name(): string {
    return this.label;
  }
}

class Box<T> {
  constructor(public content: T) {}
}
class Pair<A, B> {
  constructor(
    public first: A,
    public second: B,
  ) {}
}
class LabelledBox<T> extends Box<T> {
  label: string = "label".repeat(1);
}

abstract class Visitor {
  seen: Shape[] = [];
  abstract visit(shape: Shape): void;
}
class Collector extends Visitor {
  last: Named | null = null;
  visit(shape: Shape): void {
    this.seen.push(shape);
  }
}

let shapes: Shape[] = [];
let current: Shape | null = null;
let byName = new Map<string, Shape>();
let boxes: Box<Shape>[] = [];
let numbers: Box<i64> = new Box<i64>(1);
let nestedBox: Box<Box<Pair<string, Circle>>> | null = null;
let labelled: LabelledBox<Circle | null> | null = null;
let pair: Pair<u8, Square> | null = null;
let visitor: Visitor | null = null;

function build(): void {
  for (let i = 0; i < 4; i++) {
    const square = new Square();
    square.owner = new Circle(i);
    shapes.push(square);
    shapes.push(new Circle(-i));
    boxes.push(new Box<Shape>(square));
    byName.set(i.toString(), new Circle(i));
  }
  current = new Square();
  nestedBox = new Box(new Box(new Pair<string, Circle>("pair".repeat(2), new Circle(1))));
  labelled = new LabelledBox<Circle | null>(new Circle(2));
  pair = new Pair<u8, Square>(200, new Square());
  const collector = new Collector();
  collector.visit(new Circle(9));
  collector.last = new Square();
  visitor = collector;
}

export function main(): void {
  build();
  judge(0);
  shapes.length = 3;
  boxes.shift();
  current = null;
  labelled!.content = null;
  numbers = new Box<i64>(2);
  judge(1);
  visitor!.seen.length = 0;
  nestedBox = null;
  pair = null;
  judge(2);
}
