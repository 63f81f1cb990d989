import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { Contract, ContractNode, Process, Step } from '../../src/recipe/types.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { type Asked, startScriptedServer } from './scripted-server.ts';

const text = { type: 'string' } as const;
const records = (kind: ContractNode['x-records'], ...fields: string[]): ContractNode => ({
  type: 'array',
  ...(kind && { 'x-records': kind }),
  items: {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [field, { type: ['string', 'number', 'array'] }]),
    ),
  },
});
const contract = (title: string, properties: Contract['properties']): Contract => ({
  type: 'object',
  title,
  properties,
});

const CONTRACTS: Record<string, Contract> = {
  frame: contract('Frame', { text }),
  critique: contract('Critique', { text, found: records('findings', 'claim', 'weight') }),
  ballot: contract('Ballot', {
    rankings: records(undefined, 'option', 'rank'),
    found: records('findings', 'claim', 'weight', 'option'),
  }),
  findings: contract('Findings', {
    findings: records('findings', 'id', 'claim', 'weight', 'source'),
  }),
  plan: contract('Plan', {
    people: records('people', 'name', 'hours_per_week'),
    items: records('work_items', 'id', 'title', 'owner', 'effort_high', 'earliest_week'),
  }),
  checks: contract('Checks', { problems: { type: 'array', items: text } }),
  page: contract('First page', { text }),
};

function make(key: string, inputs: readonly string[], more: Partial<Step> = {}): Step {
  const kind = key === 'frame' ? 'PLAN' : 'EXECUTE';
  const base = step(key, kind, 'all_to_one', key, inputs, more);
  return { ...base, output: { ...base.output, contract: `contracts/${key}.yaml` } };
}

const byCode = (compute: Step['compute']): Partial<Step> => ({ prompt: null, compute });

/** Two lanes criticise and vote; the chosen one writes a plan that code checks, and a page. */
function sample(): Process {
  const contracts = Object.fromEntries(
    Object.entries(CONTRACTS).map(([key, one]) => [`contracts/${key}.yaml`, one]),
  );
  const dump = '# {{ document.title }}\n\n{{ content | markdown }}';
  const files = { 'templates/any.md': dump };
  const debate = stage('debate', [
    make('frame', ['seed:debate/']),
    make('critique', ['header:debate/frame']),
    make('ballot', ['contrib:debate/critique*@all,join']),
  ]);
  const result = stage('result', [
    make('findings', ['contrib:debate/critique*@all', 'contrib:debate/ballot*=0.5@all'], {
      ...byCode('collect'),
    }),
    make('plan', ['doc:result/findings'], { checks: ['effort_over_limit'] }),
    make('checks', ['contrib:result/plan'], byCode('checks')),
    make('page', ['doc:result/plan', 'doc:result/checks=0.5']),
  ]);
  return {
    ...processOf('sample', [
      { ...debate, contracts, files: { ...debate.files, ...files } },
      { ...result, contracts, files: { ...result.files, ...files }, lanes: 'chosen' },
    ]),
    resultStage: 'result',
    results: [{ stage: 'result', documentKey: 'plan', folder: 'decide' }],
    firstPage: { stage: 'result', documentKey: 'page' },
    convergence: {
      candidates: { stage: 'debate', documentKey: 'critique' },
      ballots: { stage: 'debate', documentKey: 'ballot' },
      rankings: 'rankings',
      option: 'option',
      rank: 'rank',
      ownVotes: 'count',
    },
  };
}

/** The label under which a ballot shows the critique of a lane. */
const labelOf = (asked: Asked, lane: string): string =>
  new RegExp(`label="Critique ([A-Z])"[^>]*>(?:(?!</document>)[\\s\\S])*by ${lane}`).exec(
    asked.messages.map(({ content }) => content).join('\n'),
  )?.[1] ?? '';

/** Everybody ranks lane 2 first; its plan asks ten hours of people who have one. */
function answer(asked: Asked): { text: string } {
  const lane = asked.model.slice(-1);
  const answers: Record<string, () => unknown> = {
    'debate/frame': () => ({ text: `A frame by ${lane}.` }),
    'debate/critique': () => ({
      text: `A critique by ${lane}, long enough to be one of its own.`,
      found: [{ claim: `Found by ${lane}.`, weight: 'heavy' }],
    }),
    'debate/ballot': () => {
      const [first, second] = [labelOf(asked, '2'), labelOf(asked, '1')];
      return {
        rankings: [
          { option: first, rank: 1 },
          { option: second, rank: 2 },
        ],
        found: [first, second].map((option) => ({
          claim: `${option === first ? 'The winner' : 'The loser'} lacks a test.`,
          weight: 'heavy',
          option,
        })),
      };
    },
    'result/plan': () => ({
      people: [{ name: 'Bakers', hours_per_week: 1 }],
      items: [
        { id: 'W1', title: 'Try', owner: 'Bakers', effort_high: 10, earliest_week: 1 },
        { id: 'W2', title: 'Try', owner: 'Bakers', effort_high: 10, earliest_week: 1 },
      ],
    }),
    'result/page': () => ({ text: 'You get bread, and this page says when and for how much.' }),
  };
  return { text: JSON.stringify(answers[asked.deliverable]!()) };
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
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, {
        name: 'Bakery',
        brief: 'Pre-orders for a bakery.',
        process: sample(),
        models: ['compatible/lane-1', 'compatible/lane-2'],
      }),
    );
    const config = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
    const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
    const read = () => database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
    await withWorker(database, handlers, () =>
      vi.waitFor(async () => expect((await read()).status).toBe('completed'), WAIT),
    );
    const session = await read();
    const exported = await database.asTenant(tenantId, (tx) => exportSession(tx, session));
    return { session, served: server.served, ...exported };
  } finally {
    await server.stop();
  }
}

const asked = (deliverable: string) =>
  left.served.filter((request) => request.deliverable === deliverable);

describe('the result stage', () => {
  test('is written once, by the lane that the ballots chose', () => {
    expect(left.session.vote).toMatchObject({ reason: '2 of 2 first choices' });
    expect(new Set(asked('result/plan').map(({ model }) => model))).toEqual(new Set(['lane-2']));
    expect(asked('result/page')).toHaveLength(1);
    const written = left.documents.filter(({ stage: key }) => key === 'result');
    expect(new Set(written.map(({ lane }) => lane.ordinal))).toEqual(new Set([2]));
  });

  test('is given every finding of the debate by id, and only what concerns its plan', () => {
    const prompt = asked('result/plan')[0]!
      .messages.map(({ content }) => content)
      .join('\n');
    for (const [id, claim] of [
      ['F1', 'Found by 1.'],
      ['F2', 'Found by 2.'],
      ['F3', 'The winner lacks a test.'],
      ['F4', 'The winner lacks a test.'],
    ]) {
      expect(prompt).toMatch(new RegExp(`${id}[^F]*${claim}`));
    }
    expect(prompt).not.toContain('The loser lacks a test.');
    expect(prompt).not.toContain('compatible/');
  });

  test('goes back to its writer once with what does not add up, then says so on the first page', () => {
    const plans = asked('result/plan');
    expect(plans).toHaveLength(2);
    const again = plans[1]!.messages.at(-1)!.content;
    expect(again).toMatch(/Bakers.*1 hour a week/);
    const readme = left.files.get('project_readme.md')!;
    expect(readme).toContain('You get bread');
    expect(readme).toMatch(/## What does not add up yet\n\n- .*Bakers/);
  });

  test('lies in its folder under its title, and every link of the first page leads somewhere', () => {
    expect(left.files.get('decide/plan.md')).toMatch(/^# Plan/);
    const readme = left.files.get('project_readme.md')!;
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => decodeURI(path!));
    expect(links.length).toBeGreaterThan(1);
    for (const path of links) expect([...left.files.keys()], path).toContain(path);
  });
});
