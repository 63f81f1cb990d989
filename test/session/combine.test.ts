import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { ModelRequest } from '../../src/models/types.ts';
import { expectedCounts } from '../../src/planning/expected-counts.ts';
import { parseProcess } from '../../src/recipe/parse.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { checkProcess, loadProcess } from '../../src/recipe/validate.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { untilRested, withWorker } from '../engine.ts';
import { readFolder } from '../recipes/read-folder.ts';
import { debateAlone } from '../recipes/shipped.ts';
import { newTenant, openTestStore } from '../stores.ts';

const folder = fileURLToPath(new URL('../../recipes/decision-memo', import.meta.url));
const STAGE = 'decide/stage.yaml';
const CHALLENGES =
  /(stage: challenge\n\s+document_key: challenge\n\s+scope: all\n)(\s+)(multiple: true)/;

/** The decision memo with another line at the challenges that a decision reads. */
function memoWith(line: string): Map<string, string> {
  const files = readFolder(folder);
  const stage = files.get(STAGE)!;
  expect(stage).toMatch(CHALLENGES);
  return new Map([...files, [STAGE, stage.replace(CHALLENGES, `$1$2$3\n$2${line}`)]]);
}

describe('documents that are combined', () => {
  test('are a step of the recipe, which is valid and comes back from its files', () => {
    const process = debateAlone(loadProcess(memoWith('combine: true')));
    const decide = process.stages.find(({ key }) => key === 'decide')!;
    expect(decide.steps.map(({ key }) => key)).toContain('combine_decide_challenge');
    expect(checkProcess(processToFiles(process)).issues).toEqual([]);
    const plain = debateAlone(loadProcess(readFolder(folder)));
    expect(expectedCounts(process, 2).calls).toBe(expectedCounts(plain, 2).calls + 2);
  });

  test.each(['combine: true\n        join: lineage', 'combine: true\n        iteration: previous'])(
    'are refused where they cannot be: %s',
    (line) => {
      const { issues } = parseProcess(memoWith(line));
      expect(issues[0]).toMatchObject({ code: 'field_invalid', file: STAGE });
      expect(issues[0]!.message).toContain('combine takes documents');
    },
  );

  test('are merged before the step that reads them, and stand in its prompt as one', async () => {
    const database = await openTestStore('server');
    const { tenantId } = await newTenant(database);
    const models = ['offline/builder', 'offline/skeptic'];
    const brief = 'Should the library open on Sundays? Two staff, 9,000 euros a year.';
    const process = debateAlone(loadProcess(memoWith('combine: true')));
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, { name: 'Sundays', brief, process, models }),
    );
    const config = { providers: {}, models: {} };
    const author = createModelProvider(config);
    const sent: ModelRequest[] = [];
    const provider: typeof author = {
      generate: (request, options) => {
        sent.push(request);
        return author.generate(request, options);
      },
    };
    const rested = await withWorker(
      database,
      createHandlers({ database, provider, config }),
      (worker) => untilRested(worker, database, { tenantId, sessionId }),
    );
    expect(rested.status).toBe('completed');
    const labels = (key: string): string[][] =>
      sent
        .filter(({ subject }) => subject?.documentKey === key)
        .map(({ messages }) => {
          const text = messages.map(({ content }) => content).join('\n');
          return [...text.matchAll(/<document label="([^"]*)"/g)].map(([, label]) => label!);
        });
    expect(labels('decide_challenge_combined')).toHaveLength(2);
    for (const read of labels('decide_challenge_combined')) {
      expect(read).toEqual(['Challenge A', 'Challenge B']);
    }
    for (const read of labels('decision')) {
      expect(read).toContain('Combined documents');
      expect(read.filter((label) => label.startsWith('Challenge'))).toEqual([]);
    }
    const { files } = await database.asTenant(tenantId, async (tx) =>
      exportSession(tx, await readSession(tx, sessionId)),
    );
    const page = [...files].find(([path]) => path.endsWith('decide_challenge_combined.md'));
    expect(page?.[1]).toContain('Combined documents');
  }, 60_000);
});
