/** Beyond this many pairs of lines the table costs more than a fine difference is worth. */
const MOST_PAIRS = 4_000_000;

/** The lines that were taken out, with `-`, and put in, with `+`, in their order. */
export function diffLines(before: string, after: string): string[] {
  let [old, now] = [before.split('\n'), after.split('\n')];
  const head = countSame(old, now);
  [old, now] = [old.slice(head), now.slice(head)];
  const tail = countSame(old.toReversed(), now.toReversed());
  [old, now] = [old.slice(0, old.length - tail), now.slice(0, now.length - tail)];
  const kept = old.length * now.length > MOST_PAIRS ? [] : findCommon(old, now);
  const lines: string[] = [];
  let [at, to] = [0, 0];
  for (const [oldEnd, newEnd] of [...kept, [old.length, now.length] as const]) {
    lines.push(...old.slice(at, oldEnd).map((line) => `- ${line}`));
    lines.push(...now.slice(to, newEnd).map((line) => `+ ${line}`));
    [at, to] = [oldEnd + 1, newEnd + 1];
  }
  return lines;
}

function countSame(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((line, index) => line !== b[index]);
  return differs < 0 ? a.length : differs;
}

/** Positions of a longest common subsequence, in both lists. */
function findCommon(old: readonly string[], now: readonly string[]): (readonly [number, number])[] {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        old[i] === now[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const common: (readonly [number, number])[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      common.push([i, j]);
      [i, j] = [i + 1, j + 1];
    } else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1;
    else j += 1;
  }
  return common;
}
