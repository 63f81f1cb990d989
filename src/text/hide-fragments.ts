/** Gives a text back without secrets. */
export type HideSecrets = (text: string) => string;

const HIDDEN = '[key]';
/** Shorter runs of a secret are words by chance; shorter secrets are placeholders (`none`). */
const FRAGMENT = 8;
const SHORTEST_SECRET = 6;
/** Eight hexadecimal digits are but four characters, and ids are made of such digits. */
const HEX_FRAGMENT = 16;

/** What the keys of a provider have in common says nothing about one of them. */
const PUBLIC_BEGINNING =
  /^(?:sk-(?:proj|svcacct|admin|or-v1|ant-(?:api|admin|sid)\d\d)-|github_pat_|tvly-(?:dev|prod)-)/i;

/** Runs of characters by their length; false for one that is public. */
type Runs = Map<number, Map<string, boolean>>;

/**
 * What hides every run of eight characters of the secrets, in upper or lower case, plain or as URLs,
 * JSON, HTML, base64 and hexadecimal digits write them. A server may echo any part of a key, and cut
 * it anywhere. It must see a text before anybody shortens it. The time grows with the text alone.
 */
export function hideFragments(secrets: readonly string[]): HideSecrets {
  const runs: Runs = new Map();
  for (const secret of new Set(secrets)) {
    if (secret.length < SHORTEST_SECRET) continue;
    addForms(runs, secret, true);
    const [beginning = ''] = PUBLIC_BEGINNING.exec(secret) ?? [];
    if (beginning.length >= FRAGMENT) addForms(runs, beginning, false);
  }
  return runs.size === 0 ? (text) => text : (text) => hideRuns(text, runs);
}

function addForms(runs: Runs, secret: string, isSecret: boolean): void {
  const forms = [secret, ...base64Of(secret)].map((form) => [form, FRAGMENT] as const);
  const hex = [Buffer.from(secret).toString('hex'), HEX_FRAGMENT] as const;
  for (const [form, length] of [...forms, hex]) addRuns(runs, read(form).text, length, isSecret);
}

function addRuns(runs: Runs, form: string, wanted: number, isSecret: boolean): void {
  const length = Math.min(wanted, form.length);
  if (length < SHORTEST_SECRET) return;
  const known = runs.get(length) ?? new Map<string, boolean>();
  runs.set(length, known);
  for (let at = 0; at + length <= form.length; at++) {
    known.set(form.slice(at, at + length), isSecret);
  }
}

/**
 * What base64 makes of a secret inside of any text (`user:secret`), where it may begin at any of the
 * three bytes of a group. The digits at the ends that its neighbours share in are left out.
 */
function base64Of(secret: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const first = Math.ceil((before * 8) / 6);
    return bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
  });
}

const PUBLIC = 1;
const SECRET = 2;

function hideRuns(text: string, runs: Runs): string {
  const { text: plain, ends } = read(text);
  const marks = new Uint8Array(plain.length);
  for (const [length, known] of runs) {
    for (let at = 0; at + length <= plain.length; at++) {
      const isSecret = known.get(plain.slice(at, at + length));
      if (isSecret === undefined) continue;
      const mark = isSecret ? SECRET : PUBLIC;
      for (let one = at; one < at + length; one++) marks[one] = Math.max(marks[one]!, mark);
    }
  }
  const shown: string[] = [];
  let done = 0;
  for (let from = 0; from < marks.length; from++) {
    if (marks[from] === 0) continue;
    let to = from;
    while (marks[to]) to++;
    // A public beginning is hidden together with the secret that follows it.
    if (marks.subarray(from, to).includes(SECRET)) {
      // What was skipped in front, a backslash for example, is an escape of the first character.
      shown.push(text.slice(done, from === 0 ? 0 : ends[from - 1]), HIDDEN);
      done = ends[to - 1]!;
    }
    from = to;
  }
  return shown.length === 0 ? text : shown.join('') + text.slice(done);
}

/** The characters that a text stands for, folded, and where each of them ends in it. */
type Read = { readonly text: string; readonly ends: Uint32Array };

/**
 * Escapes of URLs (also within URLs), of HTML and of JSON. Any number of backslashes may stand before
 * a character, since JSON within JSON doubles them; they are skipped, as is what shows nothing.
 */
const ESCAPE = new RegExp(
  [
    String.raw`%(?:25)*([\da-f]{2})`,
    String.raw`&#(?:(\d{1,6})|x([\da-f]{1,6}));`,
    String.raw`\\+(?:(?:u00|x)([\da-f]{2}))?`,
    String.raw`[\p{Cf}\p{Default_Ignorable_Code_Point}\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]`,
  ].join('|'),
  'giu',
);

const BACKSLASH = 92;

function read(text: string): Read {
  const codes = new Uint16Array(text.length);
  const ends = new Uint32Array(text.length);
  let size = 0;
  const add = (code: number, end: number): void => {
    if (code === BACKSLASH) return;
    codes[size] = fold(code);
    ends[size] = end;
    size++;
  };
  let done = 0;
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, ofUrl, decimal, hexadecimal, ofJson] = match;
    for (; done < match.index; done++) add(text.charCodeAt(done), done + 1);
    done = match.index + whole.length;
    const digits = ofUrl ?? hexadecimal ?? ofJson;
    if (digits !== undefined) add(Number.parseInt(digits, 16), done);
    else if (decimal !== undefined) add(Number(decimal), done);
  }
  for (; done < text.length; done++) add(text.charCodeAt(done), done + 1);
  return { text: toText(codes.subarray(0, size)), ends };
}

/** In lower case, and with the two digits in which the alphabets of base64 differ as one. */
function fold(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  if (code === 43) return 45;
  return code === 47 ? 95 : code;
}

const toText = (codes: Uint16Array): string =>
  Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength).toString('utf16le');
