// A request that two maps and two arrays hold, all of them in one object: no single reference keeps it
// alive, so none that is cut frees it. Another request is held by one map alone.

class Body {
  text: string = "a body that only its request refers to";
}

class Request {
  body: Body = new Body();
  constructor(public id: i32) {}
}

class Tables {
  byId: Map<i32, Request> = new Map();
  byName: Map<string, Request> = new Map();
  active: Request[] = [];
  recent: Request[] = [];
}

let tables: Tables = new Tables();

export function start(): void {
  const shared = new Request(7);
  tables.byId.set(7, shared);
  tables.byName.set("seven", shared);
  tables.active.push(shared);
  tables.recent.push(shared);
  tables.byId.set(8, new Request(8));
}
