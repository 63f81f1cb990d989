import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineModule, nowMicros } from './engine.ts';
import type { Answer, Command } from './fleet.ts';

// One process of a benchmark: a client, which enqueues and looks whether all is done, or a worker.
// It reads one command a line and answers each with one line; `count` lines come unasked.

const REPORT_EVERY_MS = 5;

const [name, url, first] = process.argv.slice(2);
const { default: module } = (await import(`./${name}.ts`)) as { default: EngineModule };
const engine = await module.open(url!, first === 'first');
let runs: [id: string, micros: number][] = [];
let count = 0;
let reporting = false;

const say = (answer: Answer): void => void process.stdout.write(`\n${JSON.stringify(answer)}\n`);

function ran(id: string): void {
  runs.push([id, nowMicros()]);
  count++;
  if (reporting) return;
  reporting = true;
  setTimeout(() => {
    reporting = false;
    say({ kind: 'count', count });
  }, REPORT_EVERY_MS);
}

async function untilNoneOpen(): Promise<number> {
  while ((await engine.countOpen()) > 0) await sleep(1);
  return nowMicros();
}

async function obey(command: Command): Promise<Omit<Answer, 'kind'>> {
  switch (command.do) {
    case 'work':
      await engine.startWorker(ran);
      return {};
    case 'noops': {
      const micros = nowMicros();
      await engine.enqueueNoops(command.ids);
      return { micros };
    }
    case 'trees': {
      const micros = nowMicros();
      await engine.enqueueTrees(command.ids);
      return { micros };
    }
    case 'await':
      return { micros: await untilNoneOpen() };
    case 'report': {
      const reported = runs;
      runs = [];
      return { runs: reported };
    }
    case 'close':
      await engine.close();
      return {};
  }
}

say({ kind: 'done' });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command;
  say({ kind: 'done', ...(await obey(command)) });
  if (command.do === 'close') break;
}
process.exit(0);
