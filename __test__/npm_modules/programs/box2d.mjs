globalThis.fetch = undefined;

import B from "box2d-wasm";

const b = await B();
const w = new b.b2World(new b.b2Vec2(0, -10));
const bd = new b.b2BodyDef();
bd.set_type(b.b2_dynamicBody);
const body = w.CreateBody(bd);
const s = new b.b2CircleShape();
s.set_m_radius(1);
body.CreateFixture(s, 1);
for (let i = 0; i < 100; i++) w.Step(1 / 60, 3, 2);
console.log(body.GetPosition().y.toFixed(5));
