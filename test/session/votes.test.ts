import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { ModelRequest } from '../../src/models/types.ts';
import type { OwnVotes } from '../../src/recipe/types.ts';
import { chooseLaneByHand } from '../../src/session/converge.ts';
import { type Answer, type Asked, startScriptedServer } from '../generation/scripted-server.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { markOf, type PartlyRun, readOutcome, recordOffline, runPartly } from './partly.ts';
import { shipped } from './trivial.ts';

const memo = shipped('decision-memo');
const softwarePlan = shipped('software-plan');

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
  ({ tenantId } = await newTenant(database));
});

const place = () => ({ database, tenantId });
const runBallots = (run: Omit<PartlyRun, 'writes'>) => {
  const { documentKey } = run.process.convergence!.ballots;
  return runPartly(place(), { ...run, writes: (planned) => planned.documentKey === documentKey });
};

const DOCUMENT = /<document label="([^"]*)"[^>]*>\n([\s\S]*?)\n<\/document>/g;
const documentsOf = (request: ModelRequest) =>
  request.messages.flatMap(({ content }) =>
    [...content.matchAll(DOCUMENT)].map(([, label, text]) => ({ label: label!, text: text! })),
  );

describe.each([
  ['software-plan', softwarePlan],
  ['decision-memo', memo],
])('the ballots of %s', (_, process) => {
  const candidate = process.convergence!.candidates.documentKey;

  test.each([2, 3])(
    'with %i offline lanes are all read, and blind in fact',
    async (count) => {
      const models = ['offline/builder', 'offline/skeptic', 'offline/steward'].slice(0, count);
      const { provider, asked } = recordOffline();
      const { session, result, readme } = await runBallots({ process, models, provider });
      expect(session).toMatchObject({ status: 'completed', chosenBy: 'ballots' });
      expect(result.vote).toMatchObject({ cast: count, read: count, counted: count, absent: [] });
      expect(readme).toMatch(/chosen by the participants' rankings|the rankings tie/);
      // One call for each ballot: none had to be asked for again.
      expect(asked.length).toBe(count);

      for (const request of asked) {
        const shown = documentsOf(request);
        const letters = shown.map(({ label }) => label.slice(-1)).join('');
        expect(letters).toBe('ABC'.slice(0, count));
        // The same texts for every voter, and no word from a document that is only its own.
        const plain = (one: ModelRequest) =>
          documentsOf(one)
            .map(({ text }) => text)
            .toSorted();
        expect(plain(request)).toEqual(plain(asked[0]!));
        const words = request.messages.map(({ content }) => content).join('\n');
        const marks = new Set(words.match(/[a-z_]+#\d+/g));
        expect([...marks].toSorted()).toEqual(
          models.map((__, lane) => markOf(candidate, lane + 1)).toSorted(),
        );
        expect(withoutDocuments(request)).toEqual(withoutDocuments(asked[0]!));
      }
      // What the readers of labels go by is what stood in the prompts.
      const orders = asked.map((request) =>
        documentsOf(request)
          .map(({ text }) => /#(\d)/.exec(text)![1])
          .join(),
      );
      const dealt = result.vote!.ballots.map(({ labels }) => Object.values(labels).join());
      expect(dealt.toSorted()).toEqual(orders.toSorted());
    },
    120_000,
  );
});

// The subject is for recorded answers and is not sent.
const withoutDocuments = ({ model: _m, subject: _s, ...request }: ModelRequest): string =>
  JSON.stringify(request).replaceAll(/<document .*?<\/document>/g, '<document/>');

const ballot = (...options: string[]): Answer => {
  const rankings = options.map((option, at) => ({
    rank: at + 1,
    option_id: option,
    why: `It serves the people who asked; this is reason number ${at + 1}.`,
  }));
  return { text: JSON.stringify({ rankings }) };
};

/** A memo with two or three lanes whose ballots a script writes, by the lane's number. */
async function runScripted(
  script: (lane: number, asked: Asked) => Answer,
  { lanes = 2, ownVotes }: { lanes?: number; ownVotes?: OwnVotes } = {},
) {
  const server = await startScriptedServer((asked) => script(Number(asked.model.slice(-1)), asked));
  try {
    const config = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
    const convergence = { ...memo.convergence!, ...(ownVotes && { ownVotes }) };
    const models = Array.from({ length: lanes }, (_, at) => `compatible/lane-${at + 1}`);
    const provider = createModelProvider(config);
    const ran = await runBallots({ process: { ...memo, convergence }, models, provider });
    return { ...ran, served: server.served };
  } finally {
    await server.stop();
  }
}

/** The labels of the lanes on the ballot that was asked for, in the wanted order of lanes. */
const labelsOf = ({ messages }: Asked, ...order: number[]): string[] => {
  const shown = messages.flatMap(({ content }) => [...content.matchAll(DOCUMENT)]);
  const byLane = new Map(
    shown.map(([, label, text]) => [Number(/#(\d)/.exec(text!)![1]), label!.slice(-1)]),
  );
  return order.map((lane) => byLane.get(lane)!);
};

describe('a ballot', () => {
  test('that is spoilt twice is asked for again, then reported as not counted', async () => {
    const { session, result, readme, served } = await runScripted((lane, asked) =>
      lane === 2 ? ballot('Documents', 'the second') : ballot(...labelsOf(asked, 2, 1)),
    );
    const again = served.filter(({ model }) => model === 'lane-2');
    expect(again.length).toBe(2);
    expect(again[1]!.messages.at(-1)!.content).toContain(
      '- `rankings` must rank each of A and B exactly once, named by its label in option_id.',
    );
    expect(served.length).toBe(3);
    expect(session).toMatchObject({ status: 'completed', chosenBy: 'ballots' });
    expect(result.chosen).toMatchObject({ lane: 2, by: 'ballots' });
    expect(result.vote).toMatchObject({
      cast: 2,
      read: 1,
      counted: 1,
      reason: '1 of 1 first choices',
    });
    expect(result.vote!.ballots).toMatchObject([
      { lane: 1, ranking: [2, 1], ownPlace: 2, counted: true, problem: null },
      { lane: 2, ranking: [], counted: false, problem: expect.stringContaining('"Documents"') },
    ]);
    expect(readme).toContain('1 of 2 ballots counted. Not counted: lane 2.');
    expect(readme).toMatch(
      /\| 2 `compatible\/lane-2` \| [^|]+ \| not read \| {2}\| no: rankings does not rank A and B\./,
    );
  }, 60_000);

  test('that is spoilt once is counted', async () => {
    const { result, served } = await runScripted((lane, asked) =>
      lane === 2 && asked.messages.every(({ role }) => role === 'user')
        ? ballot('A')
        : ballot(...labelsOf(asked, 2, 1)),
    );
    expect(served.length).toBe(3);
    expect(result.vote).toMatchObject({ cast: 2, read: 2, counted: 2 });
    expect(result.chosen).toMatchObject({ lane: 2, by: 'ballots' });
  }, 60_000);

  test.each<[string, Answer]>([
    ['no document', { text: '{}' }],
    ['withheld', { text: '{', finish: 'content_filter' }],
    ['cut off again and again', { text: '{"rankings": [', finish: 'length' }],
  ])(
    'that is spoilt stands where its repeat is %s, and the lane goes on',
    async (_, repeat) => {
      const spoilt = ballot('Documents', 'the second').text!;
      // The spoilt ballot comes in two pieces; then the request to correct it follows.
      const pieces: Answer[] = [
        { text: spoilt.slice(0, 60), finish: 'length' },
        { text: spoilt.slice(60) },
      ];
      const { session, result, served } = await runScripted((lane) =>
        lane === 1 ? ballot('A', 'B') : (pieces.shift() ?? repeat),
      );
      expect(session).toMatchObject({ status: 'completed', chosenBy: 'ballots' });
      expect(result.vote).toMatchObject({ cast: 2, read: 1, counted: 1 });
      expect(served.filter(({ model }) => model === 'lane-2').length).toBeGreaterThan(2);
      const [stood] = await database.asTenant(tenantId, (tx) =>
        tx.query(
          `select d.content, c.ordinal from documents d
         join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
         join contributions c on c.tenant_id = d.tenant_id and c.id = d.contribution_id
         where d.session_id = $1 and d.document_key = $2 and l.ordinal = 2`,
          [session.id, memo.convergence!.ballots.documentKey],
        ),
      );
      expect(stood).toEqual({ content: JSON.parse(spoilt), ordinal: 1 });
    },
    60_000,
  );

  test('of nobody can be read: the first lane stands, and the readme says for want of what', async () => {
    const { result, readme } = await runScripted(() => ballot('neither'));
    expect(result.chosen).toMatchObject({ lane: 1, by: 'default' });
    expect(readme).toContain('for want of a vote: none of 2 ballots could be read.');
    expect(readme).not.toContain('chosen by');
  }, 60_000);

  test('for the own plan is reported, and left out where the process says so', async () => {
    const selfish = (lane: number, asked: Asked): Answer => {
      const others = [1, 2, 3].filter((one) => one !== lane).toReversed();
      return ballot(...labelsOf(asked, lane, ...others));
    };
    const counted = await runScripted(selfish, { lanes: 3 });
    expect(counted.result.vote!.ballots.map(({ ownPlace }) => ownPlace)).toEqual([1, 1, 1]);
    expect(counted.result.vote).toMatchObject({ ownVotes: 'count', points: { 1: 2, 2: 3, 3: 4 } });
    const ignored = await runScripted(selfish, { lanes: 3, ownVotes: 'ignore' });
    expect(ignored.result.vote).toMatchObject({
      ownVotes: 'ignore',
      rounds: [{ votes: { 1: 0, 2: 1, 3: 2 } }],
      reason: '2 of 3 first choices',
    });
    expect(ignored.readme).toContain('taken out of its ranking before the count');
  }, 120_000);

  test('is not spoken of where there is one lane', async () => {
    const { session, readme, result } = await runScripted(() => ballot('the only one'), {
      lanes: 1,
    });
    expect(session).toMatchObject({ status: 'completed', chosenBy: 'default', vote: null });
    expect(result.vote).toBeNull();
    expect(readme).toContain('The results follow lane 1 (`compatible/lane-1`).');
    expect(readme).not.toMatch(/vote|ballots|rankings[^ ]*:/);
  }, 60_000);

  test('yields to a person, and what it said stays on record', async () => {
    const { session } = await runScripted((__, asked) => ballot(...labelsOf(asked, 2, 1)));
    await database.asTenant(tenantId, (tx) => chooseLaneByHand(tx, session, 1));
    const { readme, result } = await readOutcome(place(), session.id);
    expect(readme).toContain('chosen by a person. The rankings named lane 2.');
    expect(result.vote).toMatchObject({ lane: 2, counted: 2 });
  }, 60_000);
});
