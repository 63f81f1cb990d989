import { jsonrepair } from 'jsonrepair';
import { isRecord, type JsonRecord, type JsonValue, readJson } from './json-reader.ts';

/** What a model says about its own answer; it counts only where something is missing. */
type ControlFlags = {
  readonly continuationNeeded: boolean;
  readonly stopReason: string | null;
  readonly resumeCursor: JsonValue;
};

/** The result: a whole document, one that ends early, or nothing that could be one. */
type ParsedOutput =
  | {
      readonly kind: 'document';
      readonly content: JsonRecord;
      readonly control: ControlFlags;
      readonly notes: readonly string[];
    }
  | { readonly kind: 'truncated'; readonly problem: string }
  | { readonly kind: 'unusable'; readonly problem: string };

type ParseOptions = {
  /** False where the provider said that the text was cut: then nothing is ever repaired. */
  readonly finished?: boolean;
  /** The contract's sections, to tell a wrapper from a section of that name. */
  readonly sections?: readonly string[];
};

type Found = { readonly value: JsonRecord; readonly length: number; readonly notes: string[] };

const RECORD = /\{\s*(?:["}]|$)/g;
/** A record with bare or single-quoted keys, as in JavaScript. */
const LOOSE_RECORD = /\{\s*(?:'[^'\n]*'|[A-Za-z_$][\w$]*)\s*:/;
const CONTROL = ['continuation_needed', 'stop_reason', 'resume_cursor'];
/** Repair takes about 100 ms for a megabyte, four times as long as reading. */
const MOST_REPAIRED = 300_000;
/** A colon on its own in a list was one between key and value: the repair guessed wrong. */
const STRAY_COLON = /[[,]":"[,\]]/;
/** Behind text that is wrong, so many beginnings are tried. */
const MOST_TRIES = 50;
/** Share of letters and digits that must survive a repair. */
const LEAST_KEPT = 0.98;

/**
 * Takes the document out of whatever a model wrote around it: fences, prose, a wrapper. A text
 * that ends early is reported as such and never closed by force: half a document is no document.
 */
export function parseOutput(text: string, options: ParseOptions = {}): ParsedOutput {
  if (text.trim() === '') return { kind: 'unusable', problem: 'The answer is empty.' };
  const { found, fault } = findRecords(text, options);
  const main = found.toSorted((a, b) => b.length - a.length)[0];
  if (main && (!fault || main.length > fault.length / 2)) {
    return unwrap(main.value, main.notes, options);
  }
  if (fault) return fault.verdict;
  const loose = LOOSE_RECORD.exec(text)?.index;
  if (loose !== undefined) return repair(text.slice(loose), 'has keys without quotes', options);
  if (options.finished === false) return truncated();
  return { kind: 'unusable', problem: 'The answer holds no JSON object.' };
}

/** Where the text holds something that began as an object and did not end as one. */
type Fault = { readonly length: number; readonly verdict: ParsedOutput };

/** All whole objects side by side, never those within another, up to the first that is not. */
function findRecords(text: string, options: ParseOptions): { found: Found[]; fault?: Fault } {
  const found: Found[] = [];
  let fault: Fault | undefined;
  let triesLeft = MOST_TRIES;
  RECORD.lastIndex = 0;
  for (let match = RECORD.exec(text); match; match = RECORD.exec(text)) {
    const start = match.index;
    const reading = readJson(text, start);
    if (reading.kind === 'value') {
      const { value, end, notes } = reading;
      if (isRecord(value)) found.push({ value, length: end - start, notes });
      RECORD.lastIndex = end;
      continue;
    }
    const length = text.length - start;
    if (reading.kind === 'truncated') {
      return { found, fault: fault ?? { length, verdict: truncated() } };
    }
    if (fault && --triesLeft === 0) return { found, fault };
    if (!fault) {
      const verdict = repair(text.slice(start), reading.why, options);
      fault = { length, verdict };
      if (verdict.kind === 'document') return { found, fault };
    }
    RECORD.lastIndex = Math.max(reading.at, start + 1);
  }
  return fault ? { found, fault } : { found };
}

const truncated = (): ParsedOutput => ({
  kind: 'truncated',
  problem: 'The answer ends before its JSON object is closed.',
});

/** The last resort, for text that ends properly but is wrong in the middle. */
function repair(text: string, why: string, options: ParseOptions): ParsedOutput {
  const malformed: ParsedOutput = { kind: 'unusable', problem: `The JSON ${why}.` };
  const end = text.lastIndexOf('}') + 1;
  const rest = text.slice(end).replace(/^\s*`{3,}/, '');
  const unbalanced = count(text, '{') > count(text, '}');
  if (options.finished === false || end === 0 || unbalanced || looksOpen(rest)) return truncated();
  if (end > MOST_REPAIRED) return malformed;
  const span = text.slice(0, end);
  try {
    const reading = readJson(jsonrepair(span));
    if (reading.kind !== 'value' || !isRecord(reading.value)) return malformed;
    const result = JSON.stringify(reading.value);
    if (weigh(result) < weigh(span) * LEAST_KEPT || STRAY_COLON.test(result)) return malformed;
    return unwrap(reading.value, [...reading.notes, `the JSON ${why} and was repaired`], options);
  } catch {
    return malformed;
  }
}

const count = (text: string, character: string): number => text.split(character).length - 1;

/** What follows the last brace goes on with the object instead of talking about it. */
const looksOpen = (rest: string): boolean => /^\s*[,"\]:]/.test(rest) || /[{["]\s*$/.test(rest);

/** Letters and the like; ASCII signs, blanks and escapes are what a repair may touch. */
const weigh = (text: string): number =>
  text.replace(/\\(?:u[0-9a-f]{4}|.)|[^A-Za-z0-9\u0080-\uffff]+/g, '').length;

function unwrap(value: JsonRecord, notes: readonly string[], options: ParseOptions): ParsedOutput {
  const control: ControlFlags = {
    continuationNeeded: value['continuation_needed'] === true,
    stopReason: typeof value['stop_reason'] === 'string' ? value['stop_reason'] : null,
    resumeCursor: value['resume_cursor'] ?? null,
  };
  const sections = new Set(options.sections);
  const own = Object.fromEntries(
    Object.entries(value).filter(([key]) => sections.has(key) || !CONTROL.includes(key)),
  );
  return { kind: 'document', content: openWrapper(own, sections), control, notes };
}

/** Opens `content`, or a single record under a name that is no section; the rest stays beside. */
function openWrapper(record: JsonRecord, sections: ReadonlySet<string>): JsonRecord {
  const keys = Object.keys(record);
  const only = keys.length === 1 && sections.size > 0 ? keys[0] : undefined;
  const wrapper = Object.hasOwn(record, 'content') ? 'content' : only;
  if (wrapper === undefined || sections.has(wrapper)) return record;
  const inner = asRecord(record[wrapper]!);
  if (!inner) return record;
  if (wrapper !== 'content' && !Object.keys(inner).some((key) => sections.has(key))) return record;
  const { [wrapper]: _opened, ...beside } = record;
  return { ...beside, ...inner };
}

/** A record, or one that was written as text within the text. */
function asRecord(value: JsonValue): JsonRecord | undefined {
  if (isRecord(value)) return value;
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return undefined;
  const reading = readJson(value);
  return reading.kind === 'value' && isRecord(reading.value) ? reading.value : undefined;
}
