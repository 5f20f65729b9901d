import def, { take, put as store } from "./store.js";
export * from './types.js';
const fs = require("fs");

// total in a comment
export class Cart extends Base {
  #size = 3;
  static rate = 1;
  constructor(size) { super(); this.#size = take(size); }
  total(rate) {
    const part = rate / 2; // "total
    return `${total(part)} total`;
  }
  get later() { return /total'/.test(this.size); }
}

export function total(value) {
  function inner() { return new Cart(value); }
  return inner();
}

function* each() { yield store(1); }
const double = (x) => x * 2;
const plan = { run() { return 1; }, stop: function () {} };
module.exports.close = function () { fs.rm(plan.run()); };
