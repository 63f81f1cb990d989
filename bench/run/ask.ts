import { readFileSync } from 'node:fs';
import type { PlannedCall } from './plan.ts';

/** What a process of a peer is started with. */
export type PeerTask = {
  readonly planFile: string;
  readonly serverUrl: string;
  readonly databaseUrl: string;
  readonly slots: number;
  /** When LangGraph.js writes: while the next step runs (`async`), or before it (`sync`). */
  readonly durability?: 'async' | 'sync' | undefined;
};

export const readTask = (): PeerTask => JSON.parse(process.argv[2]!) as PeerTask;

export const readPlan = ({ planFile }: PeerTask): PlannedCall[] =>
  JSON.parse(readFileSync(planFile, 'utf8')) as PlannedCall[];

/** Asks the model on loopback and returns its whole answer. */
export async function ask(serverUrl: string, { model, messages }: PlannedCall): Promise<string> {
  const response = await fetch(`${serverUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, stream: true }),
  });
  const lines = (await response.text()).split('\n\n');
  const events = lines.filter((line) => line.startsWith('data: {'));
  const pieces = events.map((line) => JSON.parse(line.slice(6)) as ChatEvent);
  const text = pieces.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  if (text === '') throw new Error('The model gave no answer.');
  return text;
}

type ChatEvent = { choices: { delta: { content?: string } }[] };

export const tell = (result: object): void => {
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exit(0);
};
