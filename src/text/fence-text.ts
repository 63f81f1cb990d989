/** A text as fenced code; the fence is longer than any run of tildes in it, so that none ends it. */
export function fenceText(text: string): string {
  const runs = text.match(/~{3,}/g) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 3);
  const fence = '~'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
