import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openDialectic } from '../src/index.ts';
import { countPlainly, loadTokenCounter, safetyOf } from '../src/models/tokens.ts';
import type { JsonSchema } from '../src/models/types.ts';
import { readRecording, type SentRequest, serveRecording } from './economy/recording-server.ts';
import type { Benchmark, BenchResult, Measurement } from './frame.ts';
import { isIntact } from './window/is-intact.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLE = join(here, 'examples/bakery-plan');
const BRIEF = readFileSync(join(here, 'examples/bakery.md'), 'utf8');
/** The windows, as parts of the largest prompt. */
const DIVISORS = [2, 4, 8];
const MODEL = 'lab/p';

const counter = await loadTokenCounter();

/** What a debate sent, and what came of it. */
type Debate = {
  readonly documents: number;
  readonly failures: readonly string[];
  readonly sent: readonly SentRequest[];
  readonly shortened: readonly { readonly tokens: number; readonly after: number }[];
};

/** Replays a recording with participants of one window; null for one without a limit. */
async function debate(
  recording: string,
  participants: number,
  windowTokens: number | null,
): Promise<Debate> {
  const server = await serveRecording(readRecording(recording));
  const folder = mkdtempSync(join(tmpdir(), 'dialectic-window-'));
  const models = Array.from({ length: participants }, (_, at) => `${MODEL}${at + 1}`);
  const window = windowTokens === null ? {} : { windowTokens };
  const dialectic = await openDialectic({
    dataDirectory: join(folder, 'data'),
    environment: {},
    backupEveryMs: 0,
    configuration: {
      providers: { lab: { baseUrl: server.url, local: true, concurrency: 8 } },
      models: Object.fromEntries(models.map((model) => [model, window])),
    },
  });
  try {
    const asked = { brief: BRIEF, models, result: false, shortcuts: false };
    const { session } = await dialectic.start(asked);
    for await (const _ of dialectic.work(session));
    const { documents, failures } = await dialectic.result(session);
    const raw = Object.entries(await dialectic.files(session)).filter(([path]) =>
      path.endsWith('_raw.json'),
    );
    return {
      documents: documents.length,
      failures,
      sent: server.sent,
      shortened: raw.flatMap(([, text]) => (JSON.parse(text) as Partial<Debate>).shortened ?? []),
    };
  } finally {
    await dialectic.close();
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tokens of a request, as the program counts them for a model that it knows nothing of. */
function countTokens({ messages, schema }: SentRequest): number {
  const [system, ...rest] = messages;
  const request = {
    model: `${MODEL}1`,
    system: system?.content ?? '',
    messages: rest.map(({ content }) => ({ role: 'user' as const, content })),
    ...(schema && { schema: { name: '', schema: JSON.parse(schema) as JsonSchema } }),
  };
  return Math.ceil(countPlainly(counter, request) * safetyOf(request.model));
}

const isPart = ({ messages }: SentRequest): boolean =>
  messages.at(-1)?.content.includes('asked for in requests of their own') === true;
const isByEnd = ({ messages }: SentRequest): boolean =>
  messages.some(({ content }) => content.includes('Only the end of what you wrote stands below.'));
const isFurther = ({ messages }: SentRequest): boolean =>
  messages.some(({ role }) => role === 'assistant');

function describe(subject: string, whole: Debate, tight: Debate): Measurement[] {
  const { sent, shortened } = tight;
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const rows: [string, number, string][] = [
    ['documents made', tight.documents, `of ${whole.documents}`],
    ['requests', sent.length, ''],
    ['for some portions of a document', sent.filter(isPart).length, 'requests'],
    ['going on with an answer', sent.filter(isFurther).length, 'requests'],
    ['of these from its end alone', sent.filter(isByEnd).length, 'requests'],
    ['texts shortened', shortened.length, ''],
    ['their tokens before', sum(shortened.map(({ tokens }) => tokens)), 'tokens'],
    ['their tokens after', sum(shortened.map(({ after }) => after)), 'tokens'],
    ['largest request', Math.max(0, ...sent.map(countTokens)), 'tokens'],
    ['immutable part touched', sent.filter((one) => !isIntact(one, whole.sent)).length, 'requests'],
  ];
  return rows.map(([metric, value, unit]) => ({ metric, subject, value, unit }));
}

const OPTIONS = {
  recording: { type: 'string', multiple: true },
  participants: { type: 'string' },
  windows: { type: 'string' },
  write: { type: 'boolean' },
} as const;

/** `-- --recording FOLDER_OR_FILE --participants 1,2,3 --windows 2,4,8` (parts of the largest prompt). */
async function run(flags: readonly string[]): Promise<BenchResult> {
  const { values } = parseArgs({ args: [...flags], options: OPTIONS });
  const counts = (values.participants ?? '1,2').split(',').map(Number);
  const divisors = values.windows?.split(',').map(Number) ?? DIVISORS;
  const results: Measurement[] = [];
  const ratios: Record<string, number> = {};
  for (const recording of values.recording ?? [EXAMPLE]) {
    for (const participants of counts) {
      const whole = await debate(recording, participants, null);
      const largest = Math.max(...whole.sent.map(countTokens));
      const name = `${basename(recording, '.jsonl')}, ${participants}`;
      results.push({ metric: 'largest prompt', subject: name, value: largest, unit: 'tokens' });
      for (const divisor of divisors) {
        const window = Math.floor(largest / divisor);
        const tight = await debate(recording, participants, window);
        const subject = `${name}, 1/${divisor} (${window} tokens)`;
        results.push(...describe(subject, whole, tight));
        ratios[`${subject}: documents made`] = tight.documents / whole.documents;
        for (const failure of tight.failures) process.stderr.write(`${subject}: ${failure}\n`);
      }
    }
  }
  return { results, ratios };
}

export default {
  title: 'Window: whole debates in a half, a quarter and an eighth of their largest prompt',
  run,
} satisfies Benchmark;
