import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { emptyStore, temporaryFolder } from '../stores.ts';
import { type Column, describeStatement } from './describe-statement.ts';
import { findQueryCalls, type QueryCall, sourceFiles } from './query-calls.ts';

const root = new URL('../../', import.meta.url);
const { builtins } = pg.types;

/** Statements that are put together at run time, by file; tests of their rooms read their rows. */
const NOT_COVERED = {
  'src/db/transaction.ts': 1, // query and queryOne themselves
  'src/db/events.ts': 1, // readEvents: the condition depends on topic and cursor
  'src/db/tenant-reads.ts': 1, // queryOne itself
  'src/jobs/queries.ts': 2, // several statements in one round trip
};

/** Nullable columns that the statements of a file never give as null, and why. */
const NEVER_NULL: Readonly<Record<string, readonly string[]>> = {
  'src/db/tables.ts': ['name'], // a column of a catalog view, which has no constraints
  'src/estimate/read-history.ts': ['step'], // joined with `using`
  'src/handlers/find-context-jobs.ts': ['key'], // jobs of a step write a document
  'src/handlers/load.ts': ['markdown_hash'], // seed prompts are saved with their text
  'src/handlers/plan-stage.ts': ['lane_id'], // roots of lanes: jobs_role_fits
  'src/handlers/render.ts': ['step_key', 'document_key', 'lane_id', 'content'], // of a lane's step
  'src/jobs/enqueue.ts': ['idempotency_key'], // found by it
  'src/session/converge.ts': ['lane_id'], // ballots and what they rank are of lanes
  'src/session/document-paths.ts': ['document_key', 'lane_id'], // of documents alone
  'src/session/export-calls.ts': ['finish'], // calls with a contribution have ended
  'src/session/export-rows.ts': ['document_key', 'lane_id'], // null for seed prompts alone
  'src/session/losses.ts': ['stage_run_id', 'lane_id'], // joined by one, selected by the other
  'src/session/name-document.ts': ['key'], // selected where it is not null
  'src/session/questions.ts': ['step', 'key', 'question'], // of documents; where it is not null
  'src/session/read-document.ts': ['key'], // seed prompts have no lane to join
  'src/session/read.ts': ['project_id', 'recipe_hash'], // startRun sets both
  'src/session/source-info.ts': ['key'], // documents that cite have one
  'src/session/stages.ts': ['lane_id'], // roots of lanes: jobs_role_fits
  'src/wallet/report.ts': ['step', 'document'], // calls are made by jobs that write a document
};

/** What src/db/value-parsers.ts makes of a type; JSON may be anything. */
const TYPES: Readonly<Record<number, string>> = {
  [builtins.BOOL]: 'boolean',
  [builtins.INT4]: 'number',
  [builtins.INT8]: 'number',
  [builtins.FLOAT8]: 'number',
  [builtins.BYTEA]: 'Buffer',
  [builtins.TEXT]: 'string',
  [builtins.UUID]: 'string',
  [builtins.NUMERIC]: 'string',
  [builtins.TIMESTAMPTZ]: 'Date',
  [builtins.JSON]: 'unknown',
  [builtins.JSONB]: 'unknown',
  19: 'string', // name
  1007: 'readonly number[]', // int4[]
  1009: 'readonly string[]', // text[]
};

/** A row fits if it has the statement's columns, no other, of their types, null where they may be. */
const CHECK = `
type Fit<Given, Type, Nullable> = [Exclude<Given, null | undefined>] extends [Type]
  ? Nullable extends true ? (null extends Given ? Given : 'the column may be null') : Given
  : { 'the column is': Type };
type Fits<Row, Columns extends Record<string, [unknown, boolean]>> = {
  [K in keyof Columns]: K extends keyof Row
    ? Fit<Row[K], Columns[K][0], Columns[K][1]> : 'the row type lacks it'
} & { [K in Exclude<keyof Row, keyof Columns>]: 'the statement does not give it' };
export type Checked<Row extends Fits<Row, Columns>,
  Columns extends Record<string, [unknown, boolean]>> = Row;
`;

/** Whether a column may be null, as far as the catalog tells: of expressions it tells nothing. */
async function readNullable(client: pg.Client): Promise<(column: Column) => boolean> {
  const { rows } = await client.query<{ place: string }>(
    `select attrelid || '/' || attnum as place from pg_attribute
     where not attnotnull and attnum > 0`,
  );
  const places = new Set(rows.map(({ place }) => place));
  return ({ tableID, columnID }) => places.has(`${tableID}/${columnID}`);
}

const typeOf = ({ name, dataTypeID }: Column): string => {
  const type = TYPES[dataTypeID];
  if (!type) throw new Error(`column ${name} has the type ${dataTypeID}, which TYPES lacks`);
  return type;
};

type Described = QueryCall & { readonly columns: string };

async function describeCalls(calls: readonly QueryCall[]): Promise<Described[]> {
  const location = await emptyStore('server');
  if (!('databaseUrl' in location)) throw new Error('a server has an address');
  const client = new pg.Client({ connectionString: location.databaseUrl });
  await client.connect();
  try {
    const isNullable = await readNullable(client);
    const described: Described[] = [];
    for (const call of calls) {
      const columns = await describeStatement(client, call.statement!);
      const never = NEVER_NULL[call.file] ?? [];
      const fields = columns.map((column) => {
        const nullable = isNullable(column) && !never.includes(column.name);
        return `${JSON.stringify(column.name)}: [${typeOf(column)}, ${nullable}]`;
      });
      described.push({ ...call, columns: `{ ${fields.join('; ')} }` });
    }
    return described;
  } finally {
    await client.end();
  }
}

/** Puts each declared row type under its check, in the same line, and lets the compiler look. */
async function compileWithChecks(calls: readonly Described[], planted: string): Promise<string[]> {
  const folder = await temporaryFolder();
  cpSync(new URL('src', root), join(folder, 'src'), { recursive: true });
  cpSync(new URL('package.json', root), join(folder, 'package.json'));
  symlinkSync(fileURLToPath(new URL('node_modules', root)), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'src', 'check'));
  writeFileSync(join(folder, 'src', 'check', 'checked.ts'), CHECK);
  writeFileSync(join(folder, 'src', 'check', 'planted.ts'), planted);
  const config = JSON.parse(readFileSync(new URL('tsconfig.json', root), 'utf8')) as object;
  const only = { include: ['src'], exclude: ['src/**/*.test.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, ...only }));
  for (const [file, ofFile] of Map.groupBy(calls, ({ file }) => file)) {
    let text = readFileSync(new URL(file, root), 'utf8');
    for (const { start, end, columns } of ofFile.toReversed()) {
      const checked = `import('${'../'.repeat(file.split('/').length - 2)}check/checked.ts').Checked`;
      text = `${text.slice(0, start)}${checked}<${text.slice(start, end)}, ${columns}>${text.slice(end)}`;
    }
    writeFileSync(join(folder, file), text);
  }
  const compiler = fileURLToPath(new URL('node_modules/.bin/tsc', root));
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(compiler, ['-p', folder, '--pretty', 'false'], { cwd: folder }, (_, stdout) =>
    resolve(stdout),
  );
  const output = await promise;
  return output.split(/\n(?=\S)/).filter((finding) => finding.trim() !== '');
}

const PLANTED = `import type { Checked } from './checked.ts';
type Columns = { id: [string, false]; cost: [number, true] };
export type Rows = [
  Checked<{ id: string; cost: number | null }, Columns>,
  Checked<{ id: number; cost: number | null }, Columns>,
  Checked<{ id: string; cost: number }, Columns>,
  Checked<{ id: string }, Columns>,
  Checked<{ id: string; cost: number | null; more: string }, Columns>,
];
`;

test('the row type of each query is what the database says of its columns', async () => {
  const calls = sourceFiles(root).flatMap((file) => findQueryCalls(root, file));
  const dynamic = calls.filter(({ statement }) => statement === undefined);
  const byFile = Map.groupBy(dynamic, ({ file }) => file);
  const counts = Object.fromEntries([...byFile].map(([file, found]) => [file, found.length]));
  expect(counts).toEqual(NOT_COVERED);
  const described = await describeCalls(calls.filter(({ statement }) => statement !== undefined));
  expect(described.length).toBeGreaterThan(60);
  const findings = await compileWithChecks(described, PLANTED);
  const isPlanted = (finding: string) => finding.startsWith('src/check/planted.ts');
  expect(findings.filter((finding) => !isPlanted(finding))).toEqual([]);
  expect(findings.filter(isPlanted).map((finding) => Number(/\((\d+),/.exec(finding)![1]))).toEqual(
    [5, 6, 7, 8],
  );
});
