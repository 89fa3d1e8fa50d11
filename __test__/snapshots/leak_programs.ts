// Programs that leak as reported ones did, and steady ones that look alike. Each is a CommonJS module whose export is
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

export const STEADY: Record<string, string> = {
  "bounded-map": `const cache=new Map();let n=0;
    module.exports=()=>{for(let k=0;k<50;k++){cache.set(n++,{n});if(cache.size>100)cache.delete(cache.keys().next().value);}};`,
  "ring-buffer": `const ring=new Array(64);let n=0;
    module.exports=()=>{for(let k=0;k<64;k++)ring[n++%64]={n,text:'entry '+n};};`,
  "listeners-removed": `const {EventEmitter}=require('events');const bus=new EventEmitter();
    module.exports=()=>{for(let k=0;k<30;k++){const f=()=>k;bus.on('x',f);bus.off('x',f);}};`,
  "timers-cleared": `module.exports=()=>{for(let k=0;k<30;k++)clearTimeout(setTimeout(()=>k,1e6));};`,
  "promises-settled": `module.exports=async()=>{for(let k=0;k<50;k++)await Promise.race([Promise.resolve(k),Promise.resolve()]);};`,
  "weak-map": `const notes=new WeakMap();module.exports=()=>{for(let k=0;k<50;k++)notes.set({k},{text:'note '+k});};`,
  "buffers-dropped": `let last;module.exports=()=>{for(let k=0;k<20;k++)last=Buffer.alloc(10000,k);};`,
  "closures-dropped": `let last;module.exports=()=>{for(let k=0;k<40;k++){const lock={k};last=()=>lock;}};`,
  "strings-replaced": `let text='';let n=0;module.exports=()=>{text='';for(let k=0;k<100;k++)text+='line '+n++;};`,
  "set-emptied": `const open=new Set();module.exports=()=>{for(let k=0;k<40;k++)open.add({k});open.clear();};`,
  "async-storage": `const {AsyncLocalStorage}=require('async_hooks');const store=new AsyncLocalStorage();
    module.exports=()=>{for(let k=0;k<40;k++)store.run({k},()=>store.getStore());};`,
  "object-pool": `const pool=[];class Item{reset(){this.used=true;}}
    module.exports=()=>{const out=[];for(let k=0;k<30;k++)out.push(pool.pop()??new Item());for(const one of out){one.reset();pool.push(one);}};`,
};
