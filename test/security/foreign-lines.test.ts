import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, OFFLINE, runDialectic } from '../run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';

/** Line breaks of every kind that a terminal or a reader knows, and what would pass for a row. */
const FAKE = 'FAKED: $0.00';
const BREAKS = ['\n', '\r\n', '\u2028', '\u0085', '\t'].map((one) => `x${one}${FAKE}`).join('');
const COMMAND = 'x;touch${IFS}pwned;';

let ask: (...parameters: string[]) => Promise<Ended>;
let session: string;

/** A store as somebody else may have filled it: texts that are no names. */
beforeAll(async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'brief.md'), 'A brief.');
  const place = { cwd, env: { DATABASE_URL: await emptyDatabase() } };
  ask = (...parameters) => runDialectic(parameters, place);
  const started = await ask(
    'run',
    'brief.md',
    '-p',
    'decision-memo',
    ...OFFLINE,
    '--yes',
    '--json',
  );
  expect(started.code, started.stderr).toBe(0);
  session = JSON.parse(started.stdout).session;
  const client = new pg.Client({ connectionString: place.env.DATABASE_URL });
  await client.connect();
  await client.query('set session_replication_role = replica');
  await client.query('update projects set name = $1', [BREAKS]);
  await client.query('update lanes set model = $1', [`offline/${BREAKS}`]);
  await client.query('update sessions set folder = $1', [`/tmp/${BREAKS}`]);
  await client.query(
    `update documents set document_key = $1 || document_key where document_key is not null`,
    [`${COMMAND}${BREAKS}`],
  );
  await client.query('update recipe_versions set process_key = $1', [BREAKS]);
  await client.query(
    `insert into notices (id, tenant_id, topic, severity, code, message)
       select gen_random_uuid(), tenant_id, 'session/' || id, 'warning', 'folder_unusable', $1
       from sessions`,
    [BREAKS],
  );
  await client.end();
}, 120_000);

describe('a store that was received', () => {
  test.each(['list', 'notices', 'show', 'show --all'])(
    'fakes no line in `dialectic %s`',
    async (line) => {
      const { code, stdout, stderr } = await ask(...line.split(' '));
      expect(code, stderr).toBe(0);
      expect(stdout).toContain(FAKE);
      expect(
        stdout.split(/[\n\r\u2028\u0085\t]/).filter((line) => line.startsWith('FAKED')),
      ).toEqual([]);
    },
  );

  test('puts no command of its own into one that is printed', async () => {
    const { stdout } = await ask('show', session);
    const advice = stdout.split('\n').find((line) => line.startsWith('Read a document with:'));
    expect(advice).toMatch(/dialectic show 'x;touch\$\{IFS\}pwned;.*'@\d -s [0-9a-f]{8}$/);
  });
});
