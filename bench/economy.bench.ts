import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { readRecording, type SentRequest, serveRecording } from './economy/recording-server.ts';
import {
  billedEquivalent,
  sumWeights,
  type Weight,
  weighRequests,
} from './economy/weigh-requests.ts';
import type { Benchmark, BenchResult, Measurement } from './frame.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLE = join(here, 'examples/bakery-plan');
const BRIEF = join(here, 'examples/bakery.md');

/** What a debate over a recording sends, by the program of one checkout. */
type Case = {
  readonly checkout: string;
  readonly recording: string;
  readonly participants: number;
};

/** Runs a debate against a server of recorded answers and returns every request in its order. */
async function debate({ checkout, recording, participants }: Case): Promise<SentRequest[]> {
  const server = await serveRecording(readRecording(recording));
  const folder = mkdtempSync(join(tmpdir(), 'dialectic-economy-'));
  try {
    const brief = join(folder, 'brief.md');
    cpSync(BRIEF, brief);
    const models = Array.from({ length: participants }, (_, at) => ['-m', `compatible/p${at + 1}`]);
    const program = [join(checkout, 'src/cli/main.ts'), 'run'];
    const places = ['--data', join(folder, 'data'), '--out', join(folder, 'out')];
    const wanted = await chooseOptions(program);
    await run(process.execPath, [...program, brief, ...models.flat(), ...wanted, ...places], {
      env: { ...process.env, DIALECTIC_BASE_URL: server.url },
      maxBuffer: 2 ** 28,
    });
    if (server.unmatched.size > 0) {
      process.stderr.write(`Not recorded in ${recording}: ${[...server.unmatched].join(', ')}\n`);
    }
    return server.sent;
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The debate alone, with every document of it asked for; options that a release lacks are left out. */
async function chooseOptions(program: readonly string[]): Promise<string[]> {
  const { stdout: help } = await run(process.execPath, [...program, '--help']);
  return ['--no-result', '--no-shortcuts'].filter((option) => help.includes(option));
}

function measure(requests: readonly SentRequest[], subject: string): Measurement[] {
  const weighed = weighRequests(requests);
  const rows: Measurement[] = [];
  const add = (part: string, weight: Omit<Weight, 'calls'>): void => {
    const name = part === '' ? subject : `${subject}: ${part}`;
    rows.push(
      { metric: 'sent', subject: name, value: weight.sent, unit: 'characters' },
      { metric: 'reused prefix', subject: name, value: share(weight), unit: '%' },
      { metric: 'billed as', subject: name, value: billedEquivalent(weight), unit: 'characters' },
    );
  };
  const all = sumWeights(weighed.map(({ weight }) => weight));
  rows.push({ metric: 'calls', subject, value: all.calls, unit: '' });
  add('', all);
  for (const [stage, list] of Map.groupBy(weighed, (one) => one.stage)) {
    add(`stage ${stage}`, sumWeights(list.map(({ weight }) => weight)));
  }
  const kinds = weighed.flatMap((one) => [...one.kinds]);
  for (const [kind, list] of Map.groupBy(kinds, ([name]) => name)) {
    add(kind, sumWeights(list.map(([, weight]) => ({ calls: 0, ...weight }))));
  }
  const schemas = weighed.reduce((sum, { schemaChars }) => sum + schemaChars, 0);
  rows.push({
    metric: 'sent',
    subject: `${subject}: schemas of the answers, beside the prompts`,
    value: schemas,
    unit: 'characters',
  });
  return rows;
}

const share = ({ sent, reused }: Omit<Weight, 'calls'>): number =>
  sent === 0 ? 0 : (100 * reused) / sent;

const OPTIONS = {
  recording: { type: 'string', multiple: true },
  participants: { type: 'string' },
  before: { type: 'string' },
  write: { type: 'boolean' },
} as const;

/**
 * `-- --recording FOLDER_OR_FILE --participants 1,3 --before CHECKOUT`: the last names another
 * checkout of this repository, with its packages installed, to compare with.
 */
async function runBench(flags: readonly string[]): Promise<BenchResult> {
  const { values } = parseArgs({ args: [...flags], options: OPTIONS });
  const counts = (values.participants ?? '1,3').split(',').map(Number);
  const results: Measurement[] = [];
  const ratios: Record<string, number> = {};
  for (const recording of values.recording ?? [EXAMPLE]) {
    for (const participants of counts) {
      const many = participants === 1 ? '1 participant' : `${participants} participants`;
      const subject = `${basename(recording, '.jsonl')}, ${many}`;
      const one = { recording: resolve(recording), participants };
      const requests = await debate({ ...one, checkout: here });
      const now = sumWeights(weighRequests(requests).map(({ weight }) => weight));
      results.push(...measure(requests, subject));
      ratios[`${subject}: reused prefix`] = now.reused / now.sent;
      if (values.before === undefined) continue;
      const old = await debate({ ...one, checkout: resolve(values.before) });
      const then = sumWeights(weighRequests(old).map(({ weight }) => weight));
      results.push(...measure(old, `before, ${subject}`));
      ratios[`${subject}: sent, of before`] = now.sent / then.sent;
      ratios[`${subject}: sent a call, of before`] =
        now.sent / now.calls / (then.sent / then.calls);
      ratios[`${subject}: billed as, of before`] = billedEquivalent(now) / billedEquivalent(then);
    }
  }
  return { results, ratios };
}

export default {
  title: 'Economy: what a debate sends, and what of it a provider has seen before',
  run: runBench,
} satisfies Benchmark;
