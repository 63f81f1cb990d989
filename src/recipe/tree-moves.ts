/** Things by their numbers, in the order in which a text gives them. */
export type Order = readonly number[];

/**
 * What the orders that share a beginning may change together: something else comes next in all of
 * them that have it, or all begin as an order beside them does. No two of them alone gain by that,
 * as long as the others keep the old beginning.
 */
export function* changesByBeginning(orders: readonly Order[]): Generator<readonly Order[]> {
  for (const beginning of beginningsOf(orders)) {
    const has = orders.map((order) => beginsWith(order, beginning));
    const later = orders.flatMap((order, at) => (has[at] ? order.slice(beginning.length) : []));
    for (const thing of new Set(later)) {
      const first = [...beginning, thing];
      yield orders.map((order, at) =>
        has[at] && order.includes(thing) ? leadWith(order, first) : order,
      );
    }
    for (const other of orders.filter((_, at) => !has[at])) {
      const lead = leadingIn(other, beginning);
      if (lead.length > 0) {
        yield orders.map((order, at) => (has[at] ? leadWith(order, lead) : order));
      }
    }
  }
}

/** Every beginning of the orders once, from none on. */
function beginningsOf(orders: readonly Order[]): readonly Order[] {
  const all = orders.flatMap((order) => order.map((_, at) => order.slice(0, at)));
  return [...new Map(all.map((one) => [one.join(), one])).values()];
}

const beginsWith = (order: Order, beginning: Order): boolean =>
  beginning.every((thing, at) => order[at] === thing);

/** The same order with some of its things in front; itself where they are there already. */
export const leadWith = (order: Order, first: Order): Order =>
  beginsWith(order, first) ? order : [...first, ...without(order, first)];

export const without = (order: Order, things: Order): Order =>
  order.filter((thing) => !things.includes(thing));

/** How `order` begins, as far as it names only what is among the things. */
export function leadingIn(order: Order, things: Order): Order {
  const end = order.findIndex((thing) => !things.includes(thing));
  return end < 0 ? order : order.slice(0, end);
}
