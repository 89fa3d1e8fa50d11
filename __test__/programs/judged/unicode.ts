// Names and texts beyond ASCII.
import { judge } from "./support/host";

class Größe {
  höhe: Größe | null = null;
  名前: string = "";
}

class Δέλτα<T> {
  τιμή: T | null = null;
}

namespace räume {
  export let küche: Größe | null = null;
  export const schränke: Größe[] = [];
}

let 一覧: Größe[] = [];
let δ: Δέλτα<Größe> | null = null;

class Konto {
  static überblick: Größe[] = [];
}

function build(): void {
  const größe = new Größe();
  größe.höhe = new Größe();
  größe.名前 = "naïve 😀 ".repeat(3);
  räume.küche = größe;
  räume.schränke.push(new Größe());
  一覧.push(new Größe());
  δ = new Δέλτα<Größe>();
  δ!.τιμή = new Größe();
  Konto.überblick.push(new Größe());
}

export function main(): void {
  build();
  judge(0);
  räume.küche!.höhe = null;
  δ!.τιμή = null;
  一覧.length = 0;
  judge(1);
}
