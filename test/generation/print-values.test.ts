import { beforeAll, expect, test, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { Process, Step } from '../../src/recipe/types.ts';
import { exportSession } from '../../src/session/export.ts';
import { readQuestions } from '../../src/session/questions.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { contractOf } from '../checks/sound-plans.ts';
import { withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { type Asked, startScriptedServer } from './scripted-server.ts';

const plan = contractOf('plan');
const asks = { type: 'array', items: { type: 'string' } } as const;
const CONTRACTS = {
  'contracts/plan.yaml': { ...plan, properties: { ...plan.properties, open_questions: asks } },
  'contracts/work.yaml': contractOf('work_plan'),
  'contracts/checks.yaml': contractOf('checks'),
};

function make(key: string, from: string, inputs: string[], more: Partial<Step> = {}): Step {
  const base = step(key, 'EXECUTE', 'all_to_one', key, inputs, more);
  return { ...base, output: { ...base.output, contract: `contracts/${from}.yaml` } };
}

const byCode = (compute: Step['compute']): Partial<Step> => ({ prompt: null, compute });

/** A plan, the work behind it, what code finds in both, and the plan as it is handed over. */
function sample(): Process {
  const frame = step('frame', 'PLAN', 'all_to_one', 'frame', ['seed:only/']);
  const only = stage('only', [
    frame,
    make('plan', 'plan', ['header:only/frame'], { checks: ['value_unknown', 'total_changed'] }),
    make('work', 'work', ['doc:only/plan'], { checks: ['range_excludes_sum'] }),
    make('checks', 'checks', ['contrib:only/plan', 'contrib:only/work=0.5'], byCode('checks')),
    make('final', 'plan', ['contrib:only/plan', 'contrib:only/work=0.5'], byCode('print')),
  ]);
  const files = { 'templates/any.md': '# {{ document.title }}\n\n{{ content | markdown }}' };
  const contracts = { ...only.contracts, ...CONTRACTS };
  return processOf('sample', [{ ...only, contracts, files: { ...only.files, ...files } }]);
}

/** The plan names a value that nothing gives it, until its writer is told. */
function answer(asked: Asked): { text: string } {
  const name = asked.turn === 0 ? 'hours.sum' : 'hours.planned';
  const plan = {
    answer: `It takes [[${name}]] and opens on [[date.opening]].`,
    calendar: { country: 'AT', start: '2027-01-04', opening: '2027-02-02', opening_needs: ['W1'] },
    route: 'One developer builds it, and the bakers try it for two weeks.',
    people: [{ name: 'Eva', hours_per_week: 20 }],
    milestones: [{ title: 'Built', weeks: '1-2', outcome: 'It runs.' }],
    costs: [{ item: 'Server', amount: 20, currency: 'EUR', period: 'month' }],
    open_questions: ['Is [[cost.month]] a month too much?'],
    gates: [{ when: 'week 2', measure: 'It runs', go_if: 'yes', stop_if: 'no', evidence: ['W1'] }],
  };
  const item = { id: 'W1', title: 'Build', owner: 'Eva', effort_low: 15, effort_high: 24 };
  const work = {
    answer: `The work is estimated at ${asked.turn === 0 ? '40 to 60' : '15 to 24'} hours in all.`,
    first_week: [{ who: 'Eva', does: ['She builds.'] }],
    work_items: [{ ...item, earliest_week: 1, steps: ['Build it.'], done_when: ['It runs.'] }],
  };
  const answers: Record<string, unknown> = {
    'only/frame': { text: 'A frame for the plan.' },
    'only/plan': plan,
    'only/work': work,
  };
  return { text: JSON.stringify(answers[asked.deliverable]) };
}

const WAIT = { timeout: 120_000, interval: 50 };
let left: Awaited<ReturnType<typeof run>>;
beforeAll(async () => {
  left = await run(await openTestStore('embedded'));
});

async function run(database: Database) {
  const { tenantId } = await newTenant(database);
  const server = await startScriptedServer(answer);
  try {
    const brief = 'Pre-orders for a bakery.';
    const wanted = { name: 'Bakery', brief, process: sample(), models: ['compatible/one'] };
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, { ...wanted, date: '2026-11-19' }),
    );
    const config = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
    const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
    const read = () => database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
    await withWorker(database, handlers, () =>
      vi.waitFor(async () => expect((await read()).status).toBe('completed'), WAIT),
    );
    const session = await read();
    const { files } = await database.asTenant(tenantId, (tx) => exportSession(tx, session));
    const page = (key: string): string =>
      [...files].find(([path]) => path.endsWith(`_1_${key}.md`))?.[1] ?? '';
    const questions = await database.asTenant(tenantId, (tx) => readQuestions(tx, session));
    return { served: server.served, page, questions };
  } finally {
    await server.stop();
  }
}

const asked = (deliverable: string) =>
  left.served.filter((request) => request.deliverable === deliverable);

test('a name that no record gives a value goes back to its writer once', () => {
  const plans = asked('only/plan');
  expect(plans).toHaveLength(2);
  expect(plans[1]!.messages.at(-1)!.content).toContain('[[hours.sum]]');
});

test('so does a total that the items do not come to', () => {
  const plans = asked('only/work');
  expect(plans).toHaveLength(2);
  const again = plans[1]!.messages.at(-1)!.content;
  expect(again).toContain('40 to 60 hours');
  expect(again).toContain('15 to 24 hours');
});

test('what is handed over has the values and the dates of what was written last', () => {
  expect(left.page('plan')).toContain('[[hours.planned]]');
  const final = left.page('final');
  expect(final).toMatch(/It takes 15–24 hours and opens on Tuesday, 2 February 2027\./);
  expect(final).toMatch(/1-2 \(4 ?– ?15 January 2027\)/);
  expect(final).toContain('week 2 (Friday, 15 January 2027)');
  expect(final).toContain('**Start:** Monday, 4 January 2027');
});

test('the checks show the weeks by date, the capacity and the values by name', () => {
  const checks = left.page('checks');
  // Epiphany, a Wednesday, is a public holiday in Austria.
  expect(checks).toContain('Public holidays of Austria are left out.');
  expect(checks).toContain('hours.planned');
  expect(checks).toMatch(/\*\*Who:\*\* Eva\n\n\*\*Weeks:\*\* 1 to 2\n\n\*\*Hours:\*\* 36/);
});

test('a question is asked once, with its figures', () => {
  expect(left.questions.map(({ question }) => question)).toEqual(['Is €20 a month too much?']);
});
