/** Letters of the scripts that fill a square. */
const WIDE =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{Extended_Pictographic}]/u;

/** How wide a text is at most in the common sans-serif fonts; nobody measures here. */
export function estimateWidth(text: string, fontSize: number): number {
  return Array.from(text).reduce(
    (sum, unit) => sum + fontSize * (WIDE.test(unit) ? 1.05 : 0.58),
    0,
  );
}

/** The text, cut with an ellipsis where it would be wider than there is room. */
export function fitText(text: string, fontSize: number, room: number): string {
  if (estimateWidth(text, fontSize) <= room) return text;
  const units = Array.from(text);
  while (units.length > 0 && estimateWidth(`${units.join('')}…`, fontSize) > room) units.pop();
  return `${units.join('').trimEnd()}…`;
}

/** The text in one line or two; what does not fit into two is cut. */
export function splitText(text: string, fontSize: number, room: number): string[] {
  if (estimateWidth(text, fontSize) <= room) return [text];
  const words = text.split(' ');
  let count = words.length;
  while (count > 1 && estimateWidth(words.slice(0, count).join(' '), fontSize) > room) count -= 1;
  return [words.slice(0, count).join(' '), words.slice(count).join(' ')]
    .filter((line) => line !== '')
    .map((line) => fitText(line, fontSize, room));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is safe in an element or attribute; characters that XML forbids are replaced. */
export const escapeXml = (text: string): string =>
  text
    .replaceAll(/[&<>"']/g, (unit) => ENTITIES[unit] ?? unit)
    .replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '\uFFFD');
