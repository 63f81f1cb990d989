import { changesByBeginning, leadingIn, leadWith, type Order, without } from './tree-moves.ts';

/** By number. */
type Sizes = readonly number[];

/**
 * The same things in orders that share their beginnings, as a prefix tree. Its size is what is sent
 * at full price, whichever text is sent first. Finding the smallest tree is hard; this one is grown
 * from what saves most and then changed wherever that makes it smaller.
 */
export function shrinkTree(given: readonly Order[], sizes: Sizes): readonly Order[] {
  const grown = growTree(given, sizes);
  // What saves most at first may keep others from sharing more.
  let orders = treeSize(grown, sizes) <= treeSize(given, sizes) ? grown : given;
  let size = treeSize(orders, sizes);
  const pairs = given.flatMap((one, i) =>
    given.flatMap((other, j) => (i !== j && shareSome(one, other) ? [[i, j] as const] : [])),
  );
  for (let before = Number.POSITIVE_INFINITY; size < before; ) {
    before = size;
    for (const [i, j] of pairs) {
      for (const changed of changesOf(orders, i, j)) {
        if (isSame(changed, orders)) continue;
        const smaller = treeSize(changed, sizes);
        if (smaller < size) [orders, size] = [changed, smaller];
      }
    }
    if (size < before) continue;
    for (const changed of changesByBeginning(orders)) {
      const smaller = treeSize(changed, sizes);
      if (smaller >= size) continue;
      [orders, size] = [changed, smaller];
      break;
    }
  }
  return orders;
}

/** Whether a change has changed no order. */
const isSame = (changed: readonly Order[], orders: readonly Order[]): boolean =>
  changed.every((order, at) => order === orders[at]);

/** What saves most comes first in all orders that have it, and so on behind it and beside it. */
function growTree(given: readonly Order[], sizes: Sizes): readonly Order[] {
  const shared = findLargestShare(given, sizes);
  if (shared.length === 0) return given;
  const has = given.map((order) => holdsAll(order, shared));
  const rests = given.filter((_, at) => has[at]).map((order) => without(order, shared));
  const inner = growTree(rests, sizes).map((order) => [...shared, ...order]);
  const outer = [
    ...growTree(
      given.filter((_, at) => !has[at]),
      sizes,
    ),
  ];
  return has.map((isInner) => (isInner ? inner.shift() : outer.shift()) ?? []);
}

/** Of what any two have in common: that which saves most where all that have it begin with it. */
function findLargestShare(orders: readonly Order[], sizes: Sizes): Order {
  let best: Order = [];
  let most = 0;
  for (const [i, one] of orders.entries()) {
    for (const other of orders.slice(i + 1)) {
      const shared = other.filter((thing) => one.includes(thing));
      const holders = orders.filter((order) => holdsAll(order, shared)).length;
      const saved = shared.reduce((sum, thing) => sum + (sizes[thing] ?? 0), 0) * (holders - 1);
      if (saved > most) [best, most] = [shared, saved];
    }
  }
  return best;
}

const shareSome = (one: Order, other: Order): boolean => one.some((thing) => other.includes(thing));

/** What two orders share leads one of them, both, or all that have it or begin as it does. */
function changesOf(orders: readonly Order[], i: number, j: number): (readonly Order[])[] {
  const [one = [], other = []] = [orders[i], orders[j]];
  const shared = other.filter((thing) => one.includes(thing));
  const follows = orders.with(i, leadWith(one, shared));
  if (i > j) return [follows];
  return [
    follows,
    follows.with(j, leadWith(other, shared)),
    orders.map((order) => (holdsAll(order, shared) ? leadWith(order, shared) : order)),
    orders.map((order) => leadWith(order, leadingIn(shared, order))),
  ];
}

const holdsAll = (order: Order, things: Order): boolean =>
  things.every((thing) => order.includes(thing));

/**
 * The size of the prefix tree of all orders. The search calls it some ten thousand times, so the tree
 * is built in arrays: a node has its first child, its next sibling and the thing on its edge.
 */
function treeSize(orders: readonly Order[], sizes: Sizes): number {
  const most = orders.reduce((sum, order) => sum + order.length, 1);
  const [firstChild, nextSibling, things] = nodesFor(most);
  let nodes = 1;
  let size = 0;
  firstChild[0] = 0;
  for (const order of orders) {
    let node = 0;
    for (const thing of order) {
      let child = firstChild[node] ?? 0;
      while (child !== 0 && things[child] !== thing) child = nextSibling[child] ?? 0;
      if (child === 0) {
        child = nodes++;
        things[child] = thing;
        nextSibling[child] = firstChild[node] ?? 0;
        firstChild[child] = 0;
        firstChild[node] = child;
        size += sizes[thing] ?? 0;
      }
      node = child;
    }
  }
  return size;
}

type Nodes = readonly [firstChild: Int32Array, nextSibling: Int32Array, things: Int32Array];

let spare: Nodes = [new Int32Array(0), new Int32Array(0), new Int32Array(0)];

/** Arrays of at least that length, the same ones for every tree; a new node resets its own places. */
function nodesFor(most: number): Nodes {
  if (spare[0].length < most) {
    spare = [new Int32Array(most), new Int32Array(most), new Int32Array(most)];
  }
  return spare;
}
