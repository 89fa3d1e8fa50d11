// Function values: each adds another amount to the clicks, so that a call shows which one it is.
let clicks = 0;

function idle(): void {
  clicks += 1;
}
function buy(): void {
  clicks += 10;
}
function sell(): void {
  clicks += 100;
}

class Button {
  onClick: () => void = idle;
}

const buttons: Button[] = [];

/** A function object with an environment. The compiler has no closures, but the runtime marks them. */
function bind(template: () => void, environment: Button): () => void {
  const made = __new(8, load<u32>(changetype<usize>(template) - 8));
  store<u32>(made, load<u32>(changetype<usize>(template)));
  store<usize>(made, changetype<usize>(environment), 4);
  __link(made, changetype<usize>(environment), false);
  return changetype<() => void>(made);
}

export function start(): void {
  const handlers: (() => void)[] = [
    idle,
    buy,
    sell,
    (): void => {
      clicks += 1000;
    },
  ];
  for (let i = 0; i < handlers.length; i++) {
    const button = new Button();
    button.onClick = handlers[i];
    buttons.push(button);
  }
  const button = new Button();
  button.onClick = bind(sell, new Button());
  buttons.push(button);
}

/** The function object of a button. */
export function handlerOf(button: i32): usize {
  return changetype<usize>(buttons[button].onClick);
}

export function environmentOf(button: i32): usize {
  return load<usize>(changetype<usize>(buttons[button].onClick), 4);
}

/** What a press of a button adds to the clicks. */
export function press(button: i32): i32 {
  const before = clicks;
  buttons[button].onClick();
  return clicks - before;
}
