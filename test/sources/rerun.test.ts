import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Unsupported } from '../../src/recipe/types.ts';
import type { Answer, Asked } from '../generation/scripted-server.ts';
import {
  GOOD_CHECKLIST,
  GOOD_FRAME,
  type Outcome,
  playWorkPlan,
  workPlan,
} from '../generation/work-plan.ts';
import { newTenant, openTestStore } from '../stores.ts';

const SOURCES = [
  { title: 'Bread in numbers', excerpts: ['The bakery sells 1,200 loaves a week.'] },
  { title: 'Sundays', excerpts: ['On Sundays the bakery sells 340 loaves of bread.'] },
  { title: 'The weather', excerpts: ['Rain fell on the harbour all day long.'] },
];
const WRONG = { summary: 'On Sundays the bakery sells 340 loaves of bread [S1].' };
const RIGHT = { summary: 'On Sundays the bakery sells 340 loaves of bread [S2].' };

let place: { database: Database; tenantId: string };
beforeAll(async () => {
  const database = await openTestStore('server');
  place = { database, tenantId: (await newTenant(database)).tenantId };
});

const whole = (more: object): string => JSON.stringify({ ...GOOD_CHECKLIST, ...more });

/** Plays a checklist whose step says what follows where its citations stay wrong. */
function play(
  onUnsupported: Exclude<Unsupported, 'mark'>,
  answer: (asked: Asked) => Answer,
  models: readonly string[] = ['compatible/first'],
): Promise<Outcome> {
  const plan = workPlan();
  const process = {
    ...plan,
    stages: plan.stages.map((stage) => ({
      ...stage,
      steps: stage.steps.map((one) => (one.key === 'write' ? { ...one, onUnsupported } : one)),
    })),
  };
  const frame = [{ text: JSON.stringify(GOOD_FRAME) }];
  return playWorkPlan(place, [answer], { process, models, frame, sources: SOURCES });
}

const lastOf = ({ messages }: Asked): string => messages.at(-1)?.content ?? '';

/** The documents of the lanes with their pages, and the calls for each with what they cost. */
const readLanes = ({ sessionId }: Outcome) =>
  place.database.asTenant(place.tenantId, (tx) =>
    tx.query<{ lane: number; page: string; models: string[]; posted: string[] }>(
      `select l.ordinal as lane, b.body as page,
         (select array_agg(c.model order by c.started_at, c.id) from model_calls c
          join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
          where j.chain_id = k.chain_id) as models,
         (select array_agg(p.details->>'model' order by p.id) from postings p
          join model_calls c on c.tenant_id = p.tenant_id and c.id = p.call_id
          join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
          where j.chain_id = k.chain_id) as posted
       from documents d join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
       join jobs k on k.tenant_id = d.tenant_id and k.id = d.job_id
       left join blobs b on b.tenant_id = d.tenant_id and b.hash = d.markdown_hash
       where d.session_id = $1 and d.document_key = 'checklist' and not d.superseded
       order by l.ordinal`,
      [sessionId],
    ),
  );

test('a writer that does not mend a citation is given what other sources say', async () => {
  const outcome = await play('other_evidence', (asked) =>
    lastOf(asked).includes('# Other evidence')
      ? { text: JSON.stringify(RIGHT) }
      : { text: asked.soFar === '' ? whole(WRONG) : JSON.stringify(WRONG) },
  );
  expect(outcome.asked).toHaveLength(4);
  const request = lastOf(outcome.asked[3]!);
  expect(request).toContain(
    '<source id="S2">\nOn Sundays the bakery sells 340 loaves of bread.\n</source>',
  );
  expect(request).toContain('Tried before, without success: S1.');
  expect(request).toContain('`summary` gives the figure 340');
  expect(request).toContain('with this key alone: summary.');
  expect(request).not.toContain('harbour');
  // What calls share stays as it was, so that a prompt cache keeps it.
  expect(outcome.asked[3]!.messages[0]).toEqual(outcome.asked[0]!.messages[0]);
  expect(outcome.checklist?.content).toMatchObject(RIGHT);
  const page = outcome.checklist?.markdown ?? '';
  expect(page).toMatch(/^rerun: with S2 after S1$/m);
  expect(page).not.toMatch(/^audit/m);
});

test('where nothing else supports it the document is marked, and names what was tried', async () => {
  const outcome = await play('other_evidence', ({ soFar }) => ({
    text: soFar === '' ? whole(WRONG) : JSON.stringify(WRONG),
  }));
  // The second search finds nothing that was not given: no further call is made.
  expect(outcome.asked).toHaveLength(4);
  const page = outcome.checklist?.markdown ?? '';
  expect(page).toMatch(/^audit: failed, 1 fault of citation$/m);
  expect(page).toContain('asked twice to mend them, and then asked again (with S2 after S1):');
});

const TWO = ['compatible/first', 'compatible/second'];

test('the next participant writes what the first one could not support, at its own price', async () => {
  const outcome = await play(
    'other_lane',
    ({ model, soFar }) => {
      if (model === 'first') return { text: soFar === '' ? whole(WRONG) : JSON.stringify(WRONG) };
      if (soFar === '') return { text: whole(RIGHT) };
      // Its connection breaks once: the same participant goes on from there.
      const text = JSON.stringify(RIGHT);
      const isFirst = !soFar.endsWith(text.slice(0, 20));
      return isFirst ? { text: text.slice(0, 20), drop: true } : { text: text.slice(20) };
    },
    TWO,
  );
  expect(outcome.status).toBe('completed');
  const [first, second] = await readLanes(outcome);
  const models = [...Array<string>(3).fill(TWO[0]!), TWO[1]!, TWO[1]!];
  expect(first?.models).toEqual(models);
  expect(first?.posted.toSorted()).toEqual(models);
  expect(first?.page).toMatch(/^participant: 1 compatible\/first$/m);
  expect(first?.page).toMatch(/^rerun: written by 2 compatible\/second$/m);
  expect(first?.page).not.toMatch(/^audit/m);
  expect(first?.page).toContain('340 loaves of bread [^1].');
  expect(second?.models).toEqual([TWO[1]]);
  expect(second?.page).not.toMatch(/^rerun/m);
});

test('a participant that cannot answer for another costs that one nothing but the mark', async () => {
  const outcome = await play(
    'other_lane',
    ({ model, soFar }) => {
      if (model === 'second') return soFar === '' ? { text: whole(RIGHT) } : { status: 401 };
      return { text: soFar === '' ? whole(WRONG) : JSON.stringify(WRONG) };
    },
    TWO,
  );
  expect(outcome.status).toBe('completed');
  const [first] = await readLanes(outcome);
  expect(first?.models).toHaveLength(4);
  expect(first?.page).toMatch(/^audit: failed, 1 fault of citation$/m);
  expect(first?.page).toContain('and then asked again (written by 2 compatible/second):');
});

test('a lone participant has no other: its document is marked after two requests', async () => {
  const outcome = await play('other_lane', ({ soFar }) => ({
    text: soFar === '' ? whole(WRONG) : JSON.stringify(WRONG),
  }));
  expect(outcome.asked).toHaveLength(3);
  expect(outcome.checklist?.markdown).toMatch(/^audit: failed/m);
});
