import React from "react";
import { Button } from "./button";

type Props = { total: number };

export function Cart({ total }: Props) {
  const label = `total ${total}`;
  return <div title="total"><Button label={label} /><Total>{sum(total)}</Total></div>;
}

export const Total = (props: Props) => <b>{props.total}</b>;
