import { expect, inject, test } from 'vitest';
import { examineStore } from '../../src/db/doctor.ts';
import { openDatabase } from '../../src/db/open.ts';
import { storeRoles } from '../store-roles.ts';
import { asAdmin, connect, makeAccount } from './owned-stores.ts';

/** The findings of doctor that somebody has to look at, and those about rights. */
async function examine(databaseUrl: string) {
  const findings = await examineStore({ databaseUrl });
  return findings.filter(({ check, ok }) => !ok || check === 'rights');
}

test('doctor names everybody who can take a role of the store, with the statement that ends it', async () => {
  const account = await makeAccount(inject('postgresUrl'), 'createrole');
  const { login, url, adminUrl } = account;
  const store = await openDatabase({ databaseUrl: url });
  const roles = await storeRoles(store);
  await store.close();
  expect((await examine(url)).filter(({ ok }) => !ok)).toEqual([]);

  const [eve, mallory, carol, quoted] = ['eve', 'mallory', 'carol', 'O"Neil'].map(
    (name) => `${name}_${login}`,
  ) as [string, string, string, string];
  const granted = [
    [roles.app, eve],
    [eve, mallory],
    [roles.worker, carol],
    [login, `"${quoted.replace('"', '""')}"`],
  ] as const;
  await asAdmin(adminUrl, async (client) => {
    for (const [, member] of granted) await client.query(`create role ${member} login`);
    for (const [role, member] of granted) await client.query(`grant ${role} to ${member}`);
  });
  const holes = (await examine(url)).filter(({ ok }) => !ok);
  expect(holes).toHaveLength(granted.length);
  for (const [role, member] of granted) {
    const statement = `revoke ${role} from ${member};`;
    const [named, ...more] = holes.filter(({ next }) => next?.includes(statement));
    expect(named).toMatchObject({ check: 'rights' });
    expect(more).toEqual([]);
    await asAdmin(adminUrl, (client) => client.query(statement));
  }
  expect((await examine(url)).filter(({ ok }) => !ok)).toEqual([]);
});

test('doctor names the other logins that are connected, and no superuser', async () => {
  const { login, url, adminUrl } = await makeAccount(inject('postgresUrl'), 'createrole');
  const other = `other_${login}`;
  await asAdmin(adminUrl, (client) => client.query(`create role ${other} login`));
  await connect(Object.assign(new URL(adminUrl), { username: other }).href);
  await connect(adminUrl);
  await (await openDatabase({ databaseUrl: url })).close();
  const connected = (await examine(url)).filter(({ message }) => message.includes('is connected'));
  expect(connected).toHaveLength(1);
  expect(connected[0]).toMatchObject({ ok: true });
  expect(connected[0]!.message).toContain(other);
});

test('doctor tells a further login of the store by name that it did not make the store', async () => {
  const { login, url, adminUrl } = await makeAccount(inject('postgresUrl'), 'createrole');
  const store = await openDatabase({ databaseUrl: url });
  const { app, worker, auth } = await storeRoles(store);
  await store.close();
  const second = `second_${login}`;
  await asAdmin(adminUrl, async (client) => {
    await client.query(`create role ${second} login`);
    await client.query(`grant connect on database ${login} to ${second}`);
    await client.query(`grant usage on schema public to ${second}`);
    await client.query(`grant ${app}, ${worker}, ${auth} to ${second}`);
  });
  const found = await examine(Object.assign(new URL(url), { username: second }).href);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ check: 'database', ok: false });
  expect(found[0]!.message).toMatch(/^database_refused: /);
});
