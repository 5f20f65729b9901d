import { take } from "./store";
import type { Kind } from "../kinds";

export interface Priced { price: number; cost(rate: number): number; }
export type Rate = number | string;
export enum Size { Small, Large = 2 }
declare function load(name: string): Rate;

namespace Shelves {
  export const depth = 3;
}

export abstract class Cart<T extends Priced> implements Priced {
  private readonly items: T[] = [];
  price = 1;
  constructor(public kind: Kind) { take(kind); }
  abstract cost(rate: number): number;
  total(): number {
    return this.items.map((item) => item.cost(1)).length; // total
  }
}

export const sum = <T,>(values: T[]): number => new Cart<T>(values).total();
