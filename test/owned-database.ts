import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase } from './postgres-server.ts';

/** An empty database whose owner is no superuser, so that policies hold for it, too. */
export async function ownedDatabase(): Promise<string> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const address = await createDatabase(inject('postgresUrl'), name);
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`create role ${name} login createrole; grant all on schema public to ${name};
    do $$ declare r text; begin
      for r in select rolname from pg_roles where rolname like 'dialectic\\_%' loop
        execute format('grant %I to ${name} with admin option', r);
      end loop; end $$`);
  await client.end();
  return Object.assign(new URL(address), { username: name }).href;
}
