import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** One request as a provider got it. */
export type SentRequest = {
  readonly model: string;
  readonly stage: string;
  readonly documentKey: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** The answer's schema, which travels beside the prompt; empty where there is none. */
  readonly schema: string;
  /** Tokens that the answer may have. */
  readonly maxTokens: number | null;
};

type Body = {
  readonly model?: string;
  readonly max_tokens?: number;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly response_format?: {
    readonly json_schema?: { readonly name?: string; readonly schema?: Shape };
  };
};
type Shape = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly minimum?: number;
};

/** Answers by `stage/document_key`; of several the one of the first participant. */
export function readRecording(path: string): ReadonlyMap<string, string> {
  return statSync(path).isDirectory() ? readFolder(path) : readLines(path);
}

/** An exported run: `…/raw_responses/<author>_<attempt>_<document>_raw.json`. */
function readFolder(folder: string): ReadonlyMap<string, string> {
  const answers = new Map<string, string>();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  for (const file of files) {
    const found =
      /iteration_1\/\d+_([^/]+)\/raw_responses\/[^/]*?_\d+_([a-z0-9_]+?)_raw\.json$/.exec(file);
    const [, stage, documentKey] = found ?? [];
    if (!stage || !documentKey) continue;
    const { text } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { text: string };
    const key = `${stage}/${documentKey}`;
    if (!answers.has(key) && isJson(text)) answers.set(key, text);
  }
  return answers;
}

/** A line of JSON for each answer, behind a first line about the run. */
function readLines(file: string): ReadonlyMap<string, string> {
  const answers = new Map<string, string>();
  for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
    if (line === '') continue;
    const row = JSON.parse(line) as { stage: string; document_key: string; text: string };
    const key = `${row.stage}/${row.document_key}`;
    if (!answers.has(key) && isJson(row.text)) answers.set(key, row.text);
  }
  return answers;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Serves OpenAI's chat API on loopback and keeps every request for a document. */
export async function serveRecording(answers: ReadonlyMap<string, string>) {
  const sent: SentRequest[] = [];
  const unmatched = new Set<string>();
  const server = createServer((request, response) => {
    let raw = '';
    request.on('data', (chunk: Buffer) => (raw += chunk.toString()));
    request.on('end', () => {
      const body = JSON.parse(raw || '{}') as Body;
      const one = readRequest(body);
      const key = `${one.stage}/${one.documentKey}`;
      if (one.stage !== '') sent.push(one);
      if (one.stage !== '' && !answers.has(key)) unmatched.add(key);
      const schema = body.response_format?.json_schema?.schema;
      const { content, isCut } = answerTo(one, answers.get(key) ?? JSON.stringify(fill(schema)));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = { id: 'r', created: 0, model: one.model };
      const delta = { role: 'assistant', content };
      const choice = { index: 0, delta, finish_reason: isCut ? 'length' : 'stop' };
      response.end(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    sent,
    unmatched,
    stop: () => server.close().closeAllConnections(),
  };
}

/** Fewer than any tokenizer makes of a text: an answer never has more tokens than it may have. */
const CHARS_PER_TOKEN = 3;
const KEYS = /^Write one JSON object with (?:this key|these keys) alone: ([^.]+)\./m;
const FORM = /^Write one JSON object with .*$/m;
/** What is asked for of a section, and of an entry of the guidance in a plan. */
const PIECES = /In `(\w+)`, write (?:the entries for )?([^.]+) alone\./g;
const INNER = /In that for (\w+), write ([^.]+) alone\./g;

/** A recorded answer as a model would give it: what was asked for, from where it stopped. */
function answerTo({ messages, maxTokens }: SentRequest, recorded: string) {
  const find = (pattern: RegExp): string | undefined =>
    messages.map(({ content }) => pattern.exec(content)?.at(-1)).findLast(Boolean);
  const asked = find(KEYS);
  const whole = asked === undefined ? recorded : takeKeys(recorded, asked.split(', '), find(FORM));
  const before = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  const goesOn = messages.at(-1)?.content.startsWith('Your answer was cut off.') === true;
  const end = before.slice(-400);
  const at = goesOn ? whole.lastIndexOf(end) : -1;
  const from = at === -1 ? 0 : at + end.length;
  const most = maxTokens === null ? whole.length : maxTokens * CHARS_PER_TOKEN;
  const content = whole.slice(from, from + most).replace(/[\ud800-\udbff]$/, '');
  return { content, isCut: from + content.length < whole.length };
}

/** An answer with some of its sections alone, or some pieces of them. */
function takeKeys(recorded: string, keys: readonly string[], form = ''): string {
  const record = JSON.parse(recorded) as Record<string, unknown>;
  const inner = (record['content'] ?? record) as Record<string, unknown>;
  const read = (pattern: RegExp): ReadonlyMap<string, readonly string[]> =>
    new Map([...form.matchAll(pattern)].map(([, key = '', list = '']) => [key, list.split(', ')]));
  const [pieces, ofEntries] = [read(PIECES), read(INNER)];
  const take = (key: string): unknown => {
    const value = inner[key];
    const wanted = pieces.get(key);
    if (wanted === undefined || typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value)) return pick(value, wanted);
    const all = value as { readonly document_key: string; readonly content_to_include: object }[];
    return all
      .filter((entry) => wanted.includes(entry.document_key))
      .map((entry) => ({
        ...entry,
        content_to_include: pick(entry.content_to_include, ofEntries.get(entry.document_key)),
      }));
  };
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, take(key)])));
}

const pick = (record: object, keys: readonly string[] | undefined): object =>
  Object.fromEntries(Object.entries(record).filter(([key]) => keys?.includes(key) ?? true));

function readRequest(body: Body): SentRequest {
  const { model = '', messages = [], response_format, max_tokens: maxTokens = null } = body;
  const texts = messages.map(({ role, content }) => ({ role, content: String(content) }));
  const { name = '', schema } = response_format?.json_schema ?? {};
  const whole = texts.map(({ content }) => content).join('\n');
  const last = [...whole.matchAll(/^Deliverable: ([\w-]+)\/(\w+)$/gm)].at(-1);
  const [stage = '', documentKey = ''] = last ? last.slice(1) : name.split('__');
  const shape = schema ? JSON.stringify(schema) : '';
  return { model, stage, documentKey, messages: texts, schema: shape, maxTokens };
}

/** The shortest answer that a schema allows, for what was not recorded. */
function fill(shape: Shape | undefined): unknown {
  if (!shape) return {};
  if (shape.enum) return shape.enum[0];
  const type = [shape.type ?? 'object'].flat()[0];
  if (shape.properties) {
    const own = Object.entries(shape.properties).map(([key, inner]) => [key, fill(inner)]);
    return Object.fromEntries(own);
  }
  if (type === 'array') return [fill(shape.items)];
  if (type === 'number' || type === 'integer') return shape.minimum ?? 1;
  if (type === 'boolean') return false;
  return 'A sentence that stands where no answer was recorded.';
}
