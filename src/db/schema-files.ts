import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export type SqlFile = { readonly name: string; readonly sql: string };
export type Migration = SqlFile & { readonly version: number };

/** What the schema is made of. */
export type SchemaFiles = {
  /** Tables, their data and their rights: numbered, each applied once and never edited. */
  readonly migrations: readonly Migration[];
  /** Functions and triggers as they are now: applied again, all of them, when any has changed. */
  readonly functions: readonly SqlFile[];
  /** Of the functions: a store keeps those of the highest edition that has opened it. */
  readonly edition: number;
};

/**
 * Grows with every change of a file in functions/, so that of two builds with equal migrations the
 * older one does not put its functions back. test/contract/function-editions.txt lists their digests.
 */
const EDITION = 35;

/** Reads the files beside this one, in the order of their names. */
export const readSchemaFiles = (): SchemaFiles => ({
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
  functions: readSqlFiles(new URL('./functions/', import.meta.url)),
  edition: EDITION,
});

/** The numbered files of a folder, in order. */
export const readMigrations = (folder: URL): Migration[] =>
  readSqlFiles(folder).map((file) => ({ ...file, version: Number(file.name.slice(0, 4)) }));

function readSqlFiles(folder: URL): SqlFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.toSorted().map((name) => ({
    name,
    sql: readFileSync(new URL(name, folder), 'utf8'),
  }));
}

/** A file's content as it is recorded in the database. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The content of all function files at once: they are applied together or not at all. */
export const digestFunctions = (functions: readonly SqlFile[]): string =>
  digestOf(functions.map(({ name, sql }) => `${name}\n${sql}`).join('\n'));

/** Whether a store that recorded `digest` for a migration has what the file says today. */
export const isSameMigration = ({ version, sql }: Migration, digest: string): boolean =>
  digest === digestOf(sql) || digest === WITH_FUNCTIONS[version];

/**
 * Until version 16 migrations held functions, too. They were cut out of these files, which changed
 * their digests; stores that applied the whole files have the same tables.
 */
const WITH_FUNCTIONS: Readonly<Record<number, string>> = {
  2: 'b8a313ffce34a29605a7ba9be0d4a53c9feaa1170e81e0dfca54fcb88d7aabd1',
  3: '5f622dc6c6a04124e9176858281ae475d414b9f94769e29cc536f03b6e7db3bc',
  4: '441bbe514b6ddecd2b4eb50cbad705e40f3d04f1c86dd1153c837e68912bf718',
  6: '6bc0a0d76561797f450db8fa17a5125b70b98d4aad288b4a3b0312d350064105',
  8: '52cf343c483de77c7b3e807e2f40b7d995586dadc1bdfa7bbe2096f37e117034',
  10: '3ce0a3bd9e01a9f786b0b2dc04dbc0dc17c04d2e313880235e827b0898d21a25',
  11: 'dfbe3e6102ab8b3d1ac6918b4ff95836008c187ff6bf7d990118a63aef1506ad',
  14: 'c298b19ec5b3b3de1901761707f05e78b90173ad63594126cb4872f2731de113',
  15: '396af79679a881033db896eb53b1d39fa1a5420e4180a14f4574bf8e26faeb46',
  16: '6b216775aca76dd6373415abbc1667815123291fe60d438322c0cfcefc51293a',
};
