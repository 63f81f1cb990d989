import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { DialecticError } from '../../src/errors/errors.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import type { ModelProvider } from '../../src/models/types.ts';
import { expectedCounts } from '../../src/planning/expected-counts.ts';
import { parseProcess } from '../../src/recipe/parse.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { checkProcess, loadProcess } from '../../src/recipe/validate.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { resumeRun } from '../../src/session/resume.ts';
import { startRun } from '../../src/session/start.ts';
import { untilRested, withWorker } from '../engine.ts';
import { readFolder } from '../recipes/read-folder.ts';
import { debateAlone } from '../recipes/shipped.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { recordOffline } from './partly.ts';

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

const COMBINED = 'decide_challenge_combined';

/** A memo whose challenges are combined, and a way to work on it until it rests. */
async function startMemo(provider: ModelProvider) {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const models = ['offline/builder', 'offline/skeptic'];
  const brief = 'Should the library open on Sundays? Two staff, 9,000 euros a year.';
  const process = debateAlone(loadProcess(memoWith('combine: true')));
  const { sessionId } = await database.asTenant(tenantId, (tx) =>
    startRun(tx, { name: 'Sundays', brief, process, models }),
  );
  const config = { providers: {}, models: {} };
  const goOn = () =>
    withWorker(database, createHandlers({ database, provider, config }), (worker) =>
      untilRested(worker, database, { tenantId, sessionId }),
    );
  return { database, tenantId, sessionId, goOn };
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

  test('are merged by the job that the reading one has as its prerequisite', async () => {
    const { provider, asked } = recordOffline();
    const { database, tenantId, sessionId, goOn } = await startMemo(provider);
    expect((await goOn()).status).toBe('completed');
    const labels = (key: string): string[][] =>
      asked
        .filter(({ subject }) => subject?.documentKey === key)
        .map(({ messages }) => {
          const text = messages.map(({ content }) => content).join('\n');
          return [...text.matchAll(/<document label="([^"]*)"/g)].map(([, label]) => label!);
        });
    expect(labels(COMBINED)).toHaveLength(2);
    for (const read of labels(COMBINED)) expect(read).toEqual(['Challenge A', 'Challenge B']);
    expect(labels('decision')).toHaveLength(2);
    for (const read of labels('decision')) {
      expect(read).toContain('Combined documents');
      expect(read.filter((label) => label.startsWith('Challenge'))).toEqual([]);
    }
    const waited = await database.asTenant(tenantId, (tx) =>
      tx.query<{ reader: string; before: string; together: boolean; given: boolean }>(
        `select w.step_key as reader, p.step_key as before, w.created_at = p.created_at as together,
           (select d.inputs::text from documents d where d.job_id = w.id) like '%' || (
             select d.id from documents d where d.job_id = p.id) || '%' as given
         from jobs w join jobs p on p.tenant_id = w.tenant_id and p.id = w.prerequisite_job_id
         where w.session_id = $1`,
        [sessionId],
      ),
    );
    const step = { reader: 'decide', before: 'combine_decide_challenge' };
    const pair = { ...step, together: true, given: true };
    expect(waited).toEqual([pair, pair]);
    const { files } = await database.asTenant(tenantId, async (tx) =>
      exportSession(tx, await readSession(tx, sessionId)),
    );
    const page = [...files].find(([path]) => path.endsWith('decide_challenge_combined.md'));
    expect(page?.[1]).toContain('Combined documents');
  }, 60_000);

  test('are waited for: where merging fails nothing is read, and a retry does both', async () => {
    const { provider, asked } = recordOffline();
    let isBroken = true;
    const { database, tenantId, sessionId, goOn } = await startMemo({
      ...provider,
      generate: (request, options) => {
        if (isBroken && request.subject?.documentKey === COMBINED) {
          throw new DialecticError('provider_request_refused', 'No.', { details: { sent: false } });
        }
        return provider.generate(request, options);
      },
    });
    expect((await goOn()).status).toBe('failed');
    const readSteps = () =>
      database.asTenant(tenantId, (tx) =>
        tx.query<{ step: string; code: string | null }>(
          `select step_key as step, error->>'code' as code from jobs
           where session_id = $1 and step_key in ('decide', 'combine_decide_challenge')
           order by seq`,
          [sessionId],
        ),
      );
    const codes = (step: string, rows: Awaited<ReturnType<typeof readSteps>>) =>
      rows.filter((row) => row.step === step).map(({ code }) => code);
    const ended = await readSteps();
    expect(codes('combine_decide_challenge', ended)).toContain('provider_request_refused');
    // The lane's root fails with the first of them, and ends what has not begun.
    for (const code of codes('decide', ended)) {
      expect(code).toMatch(/^(?:prerequisite_failed|parent_ended)$/);
    }
    expect(asked.filter(({ subject }) => subject?.documentKey === 'decision')).toEqual([]);
    isBroken = false;
    await database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId));
    expect((await goOn()).status).toBe('completed');
    expect((await readSteps()).every(({ code }) => code === null)).toBe(true);
  }, 60_000);
});
