// Programs that leak as reported ones did, and steady ones that look alike. Each is a CommonJS module whose export is
// run once a round.

/** A program that leaks: its text, and what the first growing place has to say. */
export interface LeakProgram {
  text: string;
  /** Of its path. */
  names: readonly RegExp[];
  /** Of the sentence about it, if there is one. */
  hint?: RegExp;
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
  "race-of-promises": {
    text: `class Reply{constructor(i){this.text='reply '+i+' '+'x'.repeat(300)+Math.random();}}
      const stopped=new Promise(()=>{});let n=0;async function receive(){return new Reply(n++);}
      module.exports=async()=>{for(let k=0;k<80;k++)await Promise.race([receive(),stopped]);};`,
    names: [/^module > race-of-promises\.cjs->stopped > Promise$/],
    hint: /a promise that is not settled/,
  },
  "long-timers": {
    text: `class RequestContext{constructor(n){this.id=n;this.headers=new Map([['a','b']]);}}let n=0;
      function handle(){const context=new RequestContext(n++);setTimeout(()=>{context.id=0;},3600e3).unref();}
      module.exports=()=>{for(let k=0;k<40;k++)handle();};`,
    names: [/^Node's internals > node:internal\/timers->timerListMap > /, / > Timeout$/],
    hint: /timers that have not run.*function in handle \(long-timers\.cjs\), line 2/,
  },
  ports: {
    text: `const {MessageChannel}=require('worker_threads');let n=0;
      class Call{constructor(){this.id=n++;this.args=new Array(60).fill(this.id);}
        send(){const {port1,port2}=new MessageChannel();port1.on('message',()=>this.done());port2.unref();}done(){}}
      module.exports=()=>{for(let k=0;k<25;k++)new Call().send();};`,
    names: [/^system \(Global handles\) > MessagePort$/],
    hint: /ports that were not closed.*Call \(ports\.cjs:2\)/,
  },
  "imports-with-a-query": {
    text: `const path=require('path'),fs=require('fs');const file=path.join(__dirname,'_plugin.mjs');let n=0;
      fs.writeFileSync(file,'export const config={routes:Array.from({length:200},(_,i)=>({path:"/r/"+i}))};export default function plugin(){return config}');
      module.exports=async()=>{for(let k=0;k<6;k++)(await import(file+'?v='+n++)).default();};`,
    names: [
      /^Node's internals > .*->cascadedLoader > ModuleLoader\.loadCache > LoadCache\[\*\] > /,
    ],
    hint: /modules that were imported stay.*\(_plugin\.mjs\)/,
  },
  "modules-loaded-again": {
    text: `const path=require('path'),fs=require('fs');const file=path.join(__dirname,'_page.cjs');
      fs.writeFileSync(file,'exports.table=Array.from({length:300},(_,i)=>({i}))');
      module.exports=()=>{for(let k=0;k<8;k++){delete require.cache[file];require(file);}};`,
    names: [
      /^require\.cache > module modules-loaded-again\.cjs\.children > Array\[\*\] > module _page\.cjs$/,
    ],
    hint: /modules stay in the children/,
  },
  "last-match": {
    text: `const crypto=require('crypto');let n=0;
      function parse(text){return /token=([a-f]+)/.exec(text)?.[1];}
      module.exports=()=>{n++;parse('token=abc '+crypto.randomBytes(50000*n).toString('hex'));};`,
    names: [/^RegExp's last match > /],
    hint: /a regular expression last found something/,
  },
  finalizers: {
    text: `class Surface{constructor(i){this.points=new Array(200).fill(i+0.25);this.handle={id:i};registry.register(this.handle,this);}}
      const registry=new FinalizationRegistry((s)=>s.points.length);let n=0;
      module.exports=()=>{for(let k=0;k<40;k++)new Surface(n++);};`,
    names: [/^module > finalizers\.cjs->registry > FinalizationRegistry\[\*\] > Surface$/],
  },
  slices: {
    text: `const crypto=require('crypto');const tokens=new Map();let n=0;
      module.exports=()=>{for(let k=0;k<20;k++)tokens.set(n++,crypto.randomBytes(4000).toString('hex').slice(100,140));};`,
    names: [/^module > slices\.cjs->tokens > Map\[\*\] > \(sliced string\)$/],
    hint: /of text behind 200 slices/,
  },
  "dead-references": {
    text: `const cache=new Map();let n=0;
      module.exports=()=>{for(let k=0;k<100;k++)cache.set('https://example.org/images/'+n++,new WeakRef({n}));};`,
    names: [/^module > dead-references\.cjs->cache > Map\[\*\] > WeakRef$/],
    hint: /a WeakRef stays in its container/,
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
