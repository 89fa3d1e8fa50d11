// A shop with as many customers as asked for: heaps as programs make them, not as the forge does.

class Product {
  constructor(public name: string, public price: f64) {}
}

class OrderLine {
  constructor(public product: Product, public quantity: i32) {}
}

class Order {
  lines: OrderLine[] = [];
  total: f64 = 0;
  constructor(public customer: Customer, public placed: i64) {}
}

class Customer {
  orders: Order[] = [];
  settings: Map<string, i32> = new Map();
  photo: Uint8Array;
  visits: StaticArray<i32> = new StaticArray(6);
  constructor(public id: i32, public name: string, public email: string) {
    this.photo = new Uint8Array(16 + below(64));
  }
}

/** A customer brings about as many objects. */
const OBJECTS_PER_CUSTOMER: i32 = 32;
const SETTINGS: string[] = ["language", "currency", "newsletter", "theme"];
const SYLLABLES: string[] = ["an", "ber", "cor", "da", "el", "fin", "gal", "hen", "is", "jor"];

let seed: u32 = 1;
let nextId: i32 = 0;
let oldestId: i32 = 0;
const products: Product[] = [];
const customers: Map<i32, Customer> = new Map();
const byEmail: Map<string, Customer> = new Map();
const blocked: Set<string> = new Set();

/** A number below a limit, the same in every run (xorshift). */
function below(limit: i32): i32 {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return <i32>(((<u64>seed) * <u64>limit) >> 32);
}

function anyName(): string {
  let name = SYLLABLES[below(SYLLABLES.length)];
  for (let i = below(3); i >= 0; i--) name += SYLLABLES[below(SYLLABLES.length)];
  return name;
}

function order(customer: Customer): void {
  const order = new Order(customer, nextId);
  for (let i = below(7); i >= 0; i--) {
    const product = products[below(products.length)];
    const line = new OrderLine(product, 1 + below(9));
    order.lines.push(line);
    order.total += product.price * line.quantity;
  }
  customer.orders.push(order);
}

function welcome(): void {
  const id = nextId++;
  const name = anyName();
  const customer = new Customer(id, name, name + id.toString() + "@example.org");
  for (let i = below(SETTINGS.length); i >= 0; i--) customer.settings.set(SETTINGS[i], below(100));
  for (let i = below(5); i >= 0; i--) order(customer);
  customers.set(id, customer);
  byEmail.set(customer.email, customer);
  if (below(50) == 0) blocked.add(customer.email);
}

function forget(id: i32): void {
  if (!customers.has(id)) return;
  const customer = customers.get(id);
  customers.delete(id);
  byEmail.delete(customer.email);
  blocked.delete(customer.email);
}

/** Adds customers until there are about this many objects. */
export function grow(objects: i32): void {
  while (products.length < 1000) products.push(new Product(anyName(), <f64>below(10000) / 100));
  for (let i = objects / OBJECTS_PER_CUSTOMER; i >= 0; i--) welcome();
}

/** One customer in twenty goes, another comes, and one of the others orders. */
export function trade(): void {
  const count = nextId;
  for (let i = 0; i < count / 20; i++) {
    forget(below(count));
    welcome();
    const id = below(count);
    if (customers.has(id)) order(customers.get(id));
  }
}

/** The oldest customers go, and as many others come: about as many objects are alive as before. */
export function serve(requests: i32): void {
  for (let i = 0; i < requests; i++) {
    forget(oldestId++);
    welcome();
  }
}
