import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase } from './postgres-server.ts';

/** Roles whose names did not say whose they are, which all stores of a server shared. */
const SHARED_ROLES = ['dialectic_app', 'dialectic_worker', 'dialectic_auth'];

/**
 * An empty database whose login is no superuser, so that policies hold for it, too. `ofEarlierBuild`
 * grants the roles that stores shared before migration 41.
 */
export async function ownedDatabase({ ofEarlierBuild = false } = {}): Promise<string> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const address = await createDatabase(inject('postgresUrl'), name);
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`create role ${name} login createrole; grant all on schema public to ${name}`);
  for (const role of ofEarlierBuild ? SHARED_ROLES : []) {
    await client.query(`do $$ begin create role ${role} nologin noinherit;
      exception when duplicate_object or unique_violation then null; end $$`);
    await client.query(`grant ${role} to ${name}`);
  }
  await client.end();
  return Object.assign(new URL(address), { username: name }).href;
}
