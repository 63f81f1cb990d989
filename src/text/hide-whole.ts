/** Takes secrets out of a text that arrives in pieces. */
export type SecretFilter = {
  /** Takes a piece and gives back what is certain by now. */
  push(piece: string): string;
  /** Gives back what was held because a secret could have begun there. */
  flush(): string;
};

const HIDDEN = '[key]';

/**
 * Replaces whole secrets alone, in upper or lower case, plain or as JSON, URLs and base64 write them:
 * by fragments, the prose of a document would suffer for words that a secret happens to contain.
 */
export function hideWhole(secrets: readonly string[]): SecretFilter {
  const forms = [...new Set(secrets.flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
  const [longest] = forms;
  if (longest === undefined) return { push: (piece) => piece, flush: () => '' };
  const pattern = new RegExp(forms.map(escapePattern).join('|'), 'gi');
  const replace = (text: string): string => text.replace(pattern, HIDDEN);
  let held = '';
  return {
    push(piece) {
      const text = held + piece;
      const last = [...text.matchAll(pattern)].at(-1);
      const done = last ? last.index + last[0].length : 0;
      const from = Math.max(done, text.length - longest.length + 1);
      const cut = from + startOfPartial(text.slice(from).toLowerCase(), forms);
      held = text.slice(cut);
      return replace(text.slice(0, cut));
    },
    flush() {
      const rest = replace(held);
      held = '';
      return rest;
    },
  };
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const quoted = JSON.stringify(secret).slice(1, -1);
  const base64 = bytes.toString('base64').replaceAll('=', '');
  const forms = [secret, quoted, encodeURIComponent(secret), base64, bytes.toString('base64url')];
  return forms.map((form) => form.toLowerCase());
}

/** Where the rest of a text could be the beginning of a form; its length where nowhere. */
function startOfPartial(tail: string, forms: readonly string[]): number {
  for (let at = 0; at < tail.length; at++) {
    const rest = tail.slice(at);
    if (forms.some((form) => form.length > rest.length && form.startsWith(rest))) return at;
  }
  return tail.length;
}
