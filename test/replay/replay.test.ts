import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { LocalDialectic } from '../../src/api/dialectic.ts';
import type { WorkEvent } from '../../src/api/work-on-run.ts';
import { readHistory } from '../../src/estimate/read-history.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { RecordingConfig } from '../../src/models/recorded/recording.ts';
import { requireModels } from '../../src/models/require-models.ts';
import type { ModelProvider } from '../../src/models/types.ts';
import { sleep } from '../../src/platform/clock.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { goOnAsRecorded } from '../../src/replay/go-on-as-recorded.ts';
import { planReplay, readRecordedRun } from '../../src/replay/read-recorded-run.ts';
import { startAsRecorded } from '../../src/replay/start-as-recorded.ts';
import { approveStage, iterateSession } from '../../src/session/advance.ts';
import { chooseLaneByHand } from '../../src/session/converge.ts';
import { addFeedback } from '../../src/session/feedback.ts';
import { readSession, type SessionView } from '../../src/session/read.ts';
import { resumeRun } from '../../src/session/resume.ts';
import { startRun } from '../../src/session/start.ts';
import { summarise } from '../../src/session/summary.ts';
import { readBalances } from '../../src/wallet/balances.ts';
import { grantFunds } from '../../src/wallet/ledger.ts';
import { stage, step } from '../recipes/build.ts';
import { shipped } from '../session/trivial.ts';
import { chanceOf } from '../simulation/random.ts';
import { newTenant, openTestStore, temporaryFolder } from '../stores.ts';
import { CONFIG, debate, type Place, textsOf, work, writer } from './record.ts';

let place: Place;
let recorded: Awaited<ReturnType<typeof record>>;

beforeAll(async () => {
  const database = await openTestStore('server');
  place = { database, tenantId: (await newTenant(database)).tenantId };
  recorded = await record();
});

const NEW = { name: 'Bread', brief: 'Pre-orders for a bakery.', process: debate() };

/** A run of two passes in which a person spoke twice. */
async function record() {
  const { database, tenantId } = place;
  const models = ['compatible/a', 'compatible/b'];
  const started = { ...NEW, models, reviewStages: true };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, started));
  const say = (text: string, document: string | null = null) =>
    database.asTenant(tenantId, (tx) =>
      addFeedback(tx, sessionId, { stageKey: 'propose', document, text }),
    );
  const go = () => work(place, sessionId, { provider: writer, config: CONFIG });
  await go();
  await say('Mind the counter.', 'case@2');
  await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
  await go();
  await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
  await go();
  await say('Be shorter.');
  await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
  for (const _ of ['propose', 'review']) {
    await go();
    await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
  }
  return go();
}

async function save(files: ReadonlyMap<string, string>): Promise<string> {
  const out = join(await temporaryFolder(), 'run');
  await writeTextFolder(out, files);
  return out;
}

type Way = Partial<Pick<RecordingConfig, 'fill'>> & {
  readonly recipe?: string;
  readonly around?: (provider: ModelProvider) => ModelProvider;
};

async function replay(from: string, { fill = null, recipe, around = (one) => one }: Way = {}) {
  const { database, tenantId } = place;
  const run = await readRecordedRun(from);
  const config = { ...CONFIG, recording: { recording: run.recording, pace: 0, fill } };
  const provider = around(createModelProvider(config));
  const planned = await planReplay(run, recipe);
  requireModels(planned.models, config);
  const sessionId = await database.asTenant(tenantId, (tx) => startAsRecorded(tx, run, planned));
  let left = await work(place, sessionId, { provider, config });
  const goOn = () => database.asTenant(tenantId, (tx) => goOnAsRecorded(tx, sessionId, run));
  while (await goOn()) {
    left = await work(place, sessionId, { provider, config });
  }
  const result = await database.asTenant(tenantId, (tx) => summarise(tx, left.session, left));
  return { ...left, result };
}

/** Answers late, and each time in another order. */
function late(seed: number): (provider: ModelProvider) => ModelProvider {
  const chance = chanceOf(seed);
  return (provider) => ({
    async generate(request, options) {
      await sleep(chance.between(0, 40));
      return provider.generate(request, options);
    },
  });
}

describe('a replay', () => {
  let again: Awaited<ReturnType<typeof replay>>;
  beforeAll(async () => {
    again = await replay(await save(recorded.files), { around: late(1) });
  });

  test('leaves the documents of the recorded run, in whatever order its requests arrive', () => {
    const texts = textsOf(recorded.files);
    expect(Object.keys(texts)).toHaveLength(2 * (2 + 4 + 8));
    expect(new Set(Object.values(texts)).size).toBe(2 * (2 + 4 + 8));
    expect(textsOf(again.files)).toEqual(texts);
  });

  test('goes on with answers that were cut as they went on', () => {
    const cut = [...again.files.keys()].filter((path) => /continuation_\d+_raw/.test(path));
    expect(cut.filter((path) => path.includes('iteration_1/1_propose/'))).toHaveLength(2);
  });

  test('says what people said, where they said it', () => {
    expect(settingsOf(recorded.files)).toMatchObject({
      feedback: [
        { text: 'Mind the counter.', readBy: { stage: 'review', iteration: 1 } },
        { text: 'Be shorter.', readBy: { stage: 'propose', iteration: 2 } },
      ],
    });
    const { feedback } = settingsOf(recorded.files);
    expect(settingsOf(again.files)).toMatchObject({ feedback });
  });

  test('costs nothing, and tells what the answers cost then', () => {
    const { result, files } = again;
    const before = recorded.documents.reduce((sum, { costUsd }) => sum + costUsd!, 0);
    expect(before).toBeGreaterThan(0);
    expect(result.usage.costUsd).toBe(0);
    expect(result.usage.recordedCostUsd).toBeCloseTo(before, 6);
    expect(result.answers).toEqual({ model: 0, recording: result.calls, offline: 0 });
    const readme = files.get('project_readme.md')!;
    expect(readme).toContain('**The answers are recorded:**');
    expect(readme).toContain(`$${before.toFixed(4)} to write when they were recorded`);
    const [, answer] = [...files].find(([path]) => path.includes('/raw_responses/'))!;
    expect(JSON.parse(answer).costUsd).toBeGreaterThan(0);
  });

  test('renders the answers anew with a changed template', async () => {
    const own = `session_${recorded.session.id.slice(-12)}/recipe/`;
    const recipe = [...recorded.files]
      .filter(([path]) => path.startsWith(own))
      .map(([path, text]): [string, string] => [path.slice(own.length), text]);
    const changed = recipe.map(([path, text]): [string, string] =>
      path.startsWith('merge/templates/') ? [path, `# Merged\n\n${text}`] : [path, text],
    );
    const { files } = await replay(await save(onePass()), { recipe: await save(new Map(changed)) });
    const before = textsOf(recorded.files);
    const texts = Object.entries(textsOf(files));
    expect(texts).toHaveLength(2 + 4 + 8);
    for (const [path, text] of texts) {
      const isMerge = path.includes('3_merge');
      expect(text, path).toBe(isMerge ? `# Merged\n\n${before[path]}` : before[path]);
    }
  });
});

type Settings = { readonly session: object; readonly feedback: readonly object[] };

const settingsOf = (files: ReadonlyMap<string, string>): Settings =>
  JSON.parse(files.get('project_settings.json')!);

/** The recorded run as if it had ended with its first pass, and nobody had said anything. */
function onePass(): Map<string, string> {
  const { session, ...rest } = settingsOf(recorded.files);
  const settings = { ...rest, session: { ...session, iteration: 1 }, feedback: [] };
  return new Map([...recorded.files, ['project_settings.json', JSON.stringify(settings)]]);
}

describe('a replay of a run that had not ended', () => {
  const standing = { status: 'awaiting_review', awaiting: 'review' };

  /** The recorded run as if it had gone no further than to the proposals of a pass. */
  function proposed(iteration: number, more: object = standing): Map<string, string> {
    const { session, feedback, ...rest } = settingsOf(recorded.files);
    const said = iteration === 1 ? [] : feedback;
    const settings = { ...rest, session: { ...session, ...more, iteration }, feedback: said };
    const later = new RegExp(`/iteration_(?:${iteration}/[23]|${iteration + 1}/)`);
    const files = [...recorded.files].filter(([path]) => !later.test(path));
    return new Map([...files, ['project_settings.json', JSON.stringify(settings)]]);
  }

  test('rests where that rested or was cancelled', async () => {
    for (const more of [standing, { status: 'cancelled', awaiting: null }]) {
      const { session, result, files } = await replay(await save(proposed(1, more)));
      expect(session).toMatchObject({ awaiting: 'until', untilStage: 'propose', iteration: 1 });
      expect(result.failures).toEqual([]);
      expect(textsOf(files)).toEqual(textsOf(proposed(1)));
    }
  });

  test('goes through the passes before the last one whole', async () => {
    const { session, result, files } = await replay(await save(proposed(2)));
    expect(session).toMatchObject({ awaiting: 'until', untilStage: 'propose', iteration: 2 });
    expect(result.failures).toEqual([]);
    expect(textsOf(files)).toEqual(textsOf(proposed(2)));
  });
});

test('participants with options are replayed without them', async () => {
  const { database, tenantId } = place;
  const models = ['offline/builder?fail=2', 'offline/builder'];
  const started = { ...NEW, models, untilStage: 'propose' };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, started));
  const provider = createModelProvider(CONFIG);
  const before = await work(place, sessionId, { provider, config: CONFIG });
  expect(before.session.awaiting).toBe('until');
  const { session, result } = await replay(await save(before.files));
  const names = session.lanes.map(({ model }) => model);
  expect(names).toEqual(['recorded/offline/builder', 'recorded/offline/builder']);
  expect(session.awaiting).toBe('until');
  expect(result.failures).toEqual([]);
  expect(result.answers).toEqual({ model: 0, recording: result.calls, offline: 0 });
  expect(result.documents).toHaveLength(before.documents.length);
});

describe('an answer that is not in the folder', () => {
  const isLost = (path: string): boolean =>
    path.includes('/2_review/raw') && path.includes('-b_critiquing_compatible-a');

  const incomplete = () => save(new Map([...onePass()].filter(([path]) => !isLost(path))));

  test('is named with its stage, document and participant', async () => {
    const { session, result } = await replay(await incomplete());
    expect(session.status).toBe('failed');
    expect(result.failures).toContainEqual(
      expect.stringMatching(
        /review\/critique of participant 2 on 1, pass 1, call 1 .*--fill.*\(answer_not_recorded\)$/,
      ),
    );
  });

  test('is written by the offline author where that is asked for, and said so', async () => {
    const { files, result } = await replay(await incomplete(), { fill: 'offline' });
    expect(result.status).toBe('completed');
    expect(result.answers.offline).toBe(1);
    const before = textsOf(recorded.files);
    const other = Object.entries(textsOf(files)).filter(([path, text]) => before[path] !== text);
    expect(other.map(([path]) => path)).toEqual([
      expect.stringContaining('compatible-b_critiquing_compatible-a_1_critique.md'),
    ]);
    expect(other[0]![1]).toContain('No language model wrote this document');
    expect(files.get('project_readme.md')).toContain('what was not recorded: review/critique@2.');
  });
});

test('a folder that no run has left is refused', async () => {
  const empty = await save(new Map([['notes.md', 'Bread.']]));
  await expect(readRecordedRun(empty)).rejects.toMatchObject({ code: 'recording_invalid' });
  const torn = await save(new Map([['project_settings.json', '{"project":']]));
  await expect(readRecordedRun(torn)).rejects.toMatchObject({ code: 'recording_invalid' });
  const none = join(empty, 'none');
  await expect(readRecordedRun(none)).rejects.toMatchObject({ code: 'folder_unusable' });
});

test('what was given beside the brief is read, each from the folder of its kind', async () => {
  const given = new Map([...onePass(), ['general_resource/refs/menu.md', 'Bread']]);
  const { resources } = await readRecordedRun(await save(given));
  expect(resources).toEqual([{ kind: 'refs', name: 'menu.md', text: 'Bread' }]);
});

/** The run of one pass whose answers for such files do not say what they cost. */
const withoutCosts = (isMeant: (path: string) => boolean) =>
  new Map(
    [...onePass()].map(([path, text]): [string, string] => {
      if (!path.includes('/raw_responses/') || !isMeant(path)) return [path, text];
      const { costUsd: _, ...answer } = JSON.parse(text);
      return [path, JSON.stringify(answer)];
    }),
  );

const costsIn = (files: ReadonlyMap<string, string>): string[] =>
  [...files]
    .filter(([path]) => /\/documents\/.*(?<!_feedback)\.md$/.test(path))
    .map(([, text]) => /^cost: (.*)$/m.exec(text)![1]!);

test('a replay says that a cost is unknown where its answers do not tell it', async () => {
  const all = await replay(await save(withoutCosts(() => true)));
  expect(all.result.usage).toMatchObject({ costUsd: 0, recordedCostUsd: null });
  expect(new Set(costsIn(all.files))).toEqual(
    new Set(['unknown in the recorded run, nothing in this one']),
  );
  const told = 'What the documents cost to write when they were recorded is unknown.';
  expect(all.files.get('project_readme.md')).toContain(`${told} The replay cost $0.0000.`);

  const some = await replay(await save(withoutCosts((path) => path.includes('/2_review/'))));
  expect(some.result.usage.recordedCostUsd).toBeNull();
  expect(costsIn(some.files).filter((cost) => cost.startsWith('unknown'))).toHaveLength(4);
  expect(some.files.get('project_readme.md')).toMatch(
    /cost \$0\.[0-9]*[1-9][0-9]* to write when .* of that time, without those of unknown price\./,
  );
});

test('a program replays a run of several passes through the public API, as one stream', async () => {
  const dialectic = new LocalDialectic({
    ...place,
    models: readModelsConfig({}),
    jobs: DEFAULT_JOB_SETTINGS,
    log: () => {},
  });
  const answers = { recorded: await save(recorded.files) };
  const { session, ...started } = await dialectic.startReplay(answers);
  const models = ['compatible/a', 'compatible/b'];
  expect(started).toEqual({ project: 'Bread', models, process: NEW.process.name });
  const events: WorkEvent[] = [];
  for await (const event of dialectic.workOnReplay(session, answers)) events.push(event);
  const rests = events.filter(({ kind }) => kind === 'run-rested');
  expect(rests).toEqual([events.at(-1)]);
  expect(rests).toMatchObject([{ result: { status: 'completed' } }]);
  const stages = events.filter(({ kind }) => kind === 'stage-completed');
  expect(stages).toHaveLength(2 * NEW.process.stages.length);
  const files = new Map(Object.entries(await dialectic.files(session)));
  expect(textsOf(files)).toEqual(textsOf(recorded.files));
});

test('a replay teaches the estimate nothing', async () => {
  const learn = () =>
    place.database.asTenant(place.tenantId, (tx) =>
      readHistory(tx, 'debate', (text) => text.length),
    );
  await replay(await save(onePass()));
  const { models, steps } = await learn();
  const names = [...models, ...steps].map(({ model }) => model);
  expect(names).toContain('compatible/a');
  expect(names.filter((name) => name.startsWith('recorded/'))).toEqual([]);
});

describe('a lane that a person chose', () => {
  const memo = shipped('decision-memo');
  const letter = step('letter', 'EXECUTE', 'per_source_document', 'letter', [
    'doc:decide/decision',
  ]);
  const process = {
    ...memo,
    stages: [...memo.stages, { ...stage('result', [letter]), lanes: 'chosen' as const }],
    transitions: [...memo.transitions, { from: 'decide', to: 'result', gate: false }],
    results: [{ stage: 'result', documentKey: 'letter', folder: null }],
  };
  const models = ['offline/builder', 'offline/skeptic'];
  const begin = () =>
    place.database.asTenant(place.tenantId, (tx) => startRun(tx, { ...NEW, process, models }));
  const choose = (sessionId: string, lane: number) =>
    place.database.asTenant(place.tenantId, async (tx) =>
      chooseLaneByHand(tx, await readSession(tx, sessionId), lane),
    );
  const go = (sessionId: string) =>
    work(place, sessionId, { provider: createModelProvider(CONFIG), config: CONFIG });
  const chosenOf = ({ lanes, chosenLaneId }: SessionView): number =>
    lanes.findIndex(({ id }) => id === chosenLaneId) + 1;
  const letters = (files: ReadonlyMap<string, string>): string[] =>
    Object.keys(textsOf(files)).filter((path) => path.includes('_letter'));

  test('before or after it wrote is chosen in the replay', async () => {
    const { sessionId } = await begin();
    const other = 3 - chosenOf((await go(sessionId)).session);
    await choose(sessionId, other);
    await place.database.asTenant(place.tenantId, (tx) => resumeRun(tx, sessionId));
    const late = await go(sessionId);
    expect(letters(late.files)).toHaveLength(2);

    const second = await begin();
    await choose(second.sessionId, other);
    const early = await go(second.sessionId);
    expect(letters(early.files)).toHaveLength(1);

    for (const before of [late, early]) {
      const after = await replay(await save(before.files));
      expect(after.session).toMatchObject({ status: 'completed', chosenBy: 'person' });
      expect(chosenOf(after.session)).toBe(other);
      expect(Object.keys(textsOf(after.files))).toEqual(Object.keys(textsOf(before.files)));
    }
  }, 120_000);
});

// The last one: it leaves the tenant with a wallet that no other session could pay from.
test('a replay spends no tokens of a wallet, and tells those of the recorded run', async () => {
  const { database, tenantId } = place;
  const balance = () => database.asTenant(tenantId, (tx) => readBalances(tx));
  await database.asTenant(tenantId, (tx) =>
    grantFunds(tx, { key: 'few', currency: 'token', amount: 10 }),
  );
  const before = await balance();
  const { result } = await replay(await save(onePass()));
  expect(result.status).toBe('completed');
  expect(result.usage.inputTokens).toBeGreaterThan(1_000);
  expect(await balance()).toEqual(before);
});
