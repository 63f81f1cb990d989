import { ask, readPlan, readTask, tell } from './ask.ts';
import type { PlannedCall } from './plan.ts';

// The same calls as a script: a promise for each call, which waits for those that it needs and then
// for one of the slots. Nothing is saved.

const task = readTask();
const plan = readPlan(task);
const answers = new Map<string, Promise<string>>();
const queue: (() => void)[] = [];
let free = task.slots;

async function takeSlot(): Promise<void> {
  if (free > 0) free--;
  else await new Promise<void>((resolve) => queue.push(resolve));
}

function giveSlot(): void {
  const next = queue.shift();
  if (next) next();
  else free++;
}

async function run(call: PlannedCall): Promise<string> {
  for (const id of call.needs) await answers.get(id);
  await takeSlot();
  try {
    return await ask(task.serverUrl, call);
  } finally {
    giveSlot();
  }
}

const started = performance.now();
for (const call of plan) answers.set(call.id, run(call));
await Promise.all(answers.values());
tell({ wallMs: performance.now() - started, calls: plan.length });
