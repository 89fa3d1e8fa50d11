// Programs that leak as reported ones did. Each is a CommonJS module whose export is
// run once a round.

/** A program that leaks: its text, and what its first growing place has to say. */
export interface LeakProgram {
  text: string;
  names: readonly RegExp[];
}

export const LEAKS: Record<string, LeakProgram> = {
  "error-stack": {
    text: `class Emitter{listeners=[];on(f){this.listeners.push({callback:f,stack:new Error()});}}
      const registry=new Emitter();function noop(){}
      module.exports=()=>{for(let k=0;k<20;k++)registry.on(noop);};`,
    names: [/^module > error-stack\.cjs->registry > Emitter\.listeners > /],
  },
  rooms: {
    text: `class Adapter{rooms=new Map();add(id,room){if(!this.rooms.has(room))this.rooms.set(room,new Set());
      this.rooms.get(room).add(id);}}
      const io={nsps:new Map([['/',{adapter:new Adapter()}]])};let n=0;
      module.exports=()=>{for(let k=0;k<70;k++)io.nsps.get('/').adapter.add(n,'room '+n++);};`,
    names: [/^module > rooms\.cjs->io > /, /Adapter\.rooms > Map/],
  },
  sessions: {
    text: `class Session{constructor(n){this.n=n;this.data=new Array(30).fill(n);}}
      const sessions=new Map();let n=0;
      module.exports=()=>{for(let k=0;k<40;k++)sessions.set(n,new Session(n++));};`,
    names: [/^module > sessions\.cjs->sessions > Map\[\*\] > Session$/],
  },
};
