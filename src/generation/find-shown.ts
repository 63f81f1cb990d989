/** Around the last find, where the next part of a document most often stands. */
const NEAR = 20_000;
/**
 * Characters that searches through the whole text may pass over, in all. Documents of up to half a
 * megabyte stay far below; without a limit, a list of 100,000 texts that a template cuts short would
 * take the square of their number.
 */
const MOST_PASSED = 500_000_000;

const lettersOf = (text: string): string =>
  text.replace(/(?:&lt;|[^\p{L}\p{N}])+/gu, '').toLowerCase();

/**
 * Tells whether a text shows in a rendered one, by its letters and digits alone. When the limit is
 * used up it says no: the text is then printed a second time rather than not at all.
 */
export function createFinder(rendered: string): (text: string) => boolean {
  const letters = lettersOf(rendered);
  const known = new Map<string, boolean>();
  let last = 0;
  let passed = 0;
  const find = (wanted: string): boolean => {
    const from = Math.max(0, last - NEAR);
    const near = letters.slice(from, last + wanted.length + NEAR).indexOf(wanted);
    if (near >= 0) {
      last = from + near;
      return true;
    }
    if (passed > MOST_PASSED) return false;
    const at = letters.indexOf(wanted);
    passed += at < 0 ? letters.length : at;
    if (at >= 0) last = at;
    return at >= 0;
  };
  return (text) => {
    const wanted = lettersOf(text);
    const before = known.get(wanted);
    if (before !== undefined) return before;
    const found = find(wanted);
    known.set(wanted, found);
    return found;
  };
}
