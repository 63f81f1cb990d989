/** The known name that a misspelt one probably stands for; undefined where none is alike. */
export function nearestName(wanted: string, known: readonly string[]): string | undefined {
  const most = Math.max(2, Math.floor(wanted.length / 3));
  let nearest: string | undefined;
  let least = most + 1;
  for (const name of known) {
    const edits = countEdits(wanted.toLowerCase(), name.toLowerCase());
    if (edits >= least) continue;
    nearest = name;
    least = edits;
  }
  return nearest;
}

/** Levenshtein's distance, one row of its table at a time. */
function countEdits(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, letter] of from.split('').entries()) {
    const current = [row + 1];
    for (const [column, other] of to.split('').entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      const added = (current[column] ?? 0) + 1;
      current.push(Math.min(replaced, added, (above[column + 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[to.length] ?? 0;
}
