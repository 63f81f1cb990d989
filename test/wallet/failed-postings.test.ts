import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import type { ModelsConfig } from '../../src/models/config.ts';
import type { ModelResult } from '../../src/models/types.ts';
import { chargeProvider } from '../../src/wallet/charged-provider.ts';
import { chargeSearches } from '../../src/wallet/search-charges.ts';
import { newTenant, openTestStore } from '../stores.ts';

const MODEL = 'lab/m';
const CONFIG: ModelsConfig = {
  providers: { lab: { kind: 'compatible', baseUrl: 'http://127.0.0.1:9' } },
  models: { [MODEL]: { price: { input: 100, output: 1000 } } },
};
const USAGE = {
  inputTokens: 12,
  outputTokens: 3,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  estimated: false,
};

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
});
beforeEach(async () => {
  ({ tenantId } = await newTenant(database));
});

/** The next `count` postings fail within the database, as on a full disk. */
async function failPostings(count: number): Promise<void> {
  await database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('drop sequence if exists failing cascade');
    // A sequence counts tries that are rolled back, too.
    await tx.query('create sequence failing');
    await tx.query(`create or replace function fail_posting() returns trigger language plpgsql
      security definer as $$ begin
        if nextval('public.failing') <= ${count} then
          raise exception 'no space left on device' using errcode = '53100';
        end if;
        return new;
      end $$`);
    await tx.query(`create or replace trigger fail_posting before insert on postings
      for each row execute function fail_posting()`);
  });
}

const holds = () =>
  database.asTenant(tenantId, (tx) =>
    tx.query(`select h.status, (select count(*)::int from postings p
      where p.tenant_id = h.tenant_id and p.call_id = h.call_id) as postings from holds h`),
  );

/** A call that belongs to no job, to a provider that answers so. */
function ask(answer: () => Promise<ModelResult>) {
  const payer = { database, tenantId, config: CONFIG, sessionId: null };
  const provider = chargeProvider({ generate: answer }, { ...payer, purpose: 'preflight' });
  const messages = [{ role: 'user', content: 'Say yes.' }] as const;
  return provider.generate({ model: MODEL, system: 'Short.', messages, maxOutputTokens: 16 });
}

const answered = async (): Promise<ModelResult> => ({
  text: 'yes',
  finishReason: 'stop',
  usage: USAGE,
  raw: { finishReason: 'stop', responseId: null, warnings: [] },
});

const search = () => {
  const searches = { service: 'tavily', count: 2, sessionId: null };
  const refuse = () => new Error('refused');
  return chargeSearches({ database, tenantId }, searches, refuse, async (onAnswered) => {
    onAnswered();
    throw new DialecticError('search_unavailable', 'the second was not answered');
  });
};

test('a posting that fails is tried again, and the answer is given', async () => {
  await failPostings(1);
  expect(await ask(answered)).toMatchObject({ text: 'yes' });
  expect(await holds()).toEqual([{ status: 'posted', postings: 1 }]);
}, 30_000);

test('the hold of an answered call is never void, also where it cannot be posted', async () => {
  await failPostings(1_000);
  await expect(ask(answered)).rejects.toMatchObject({ code: 'storage_full' });
  expect(await holds()).toEqual([{ status: 'held', postings: 0 }]);
}, 30_000);

test('so is that of a failed call whose usage the provider reported', async () => {
  await failPostings(1);
  const message = 'what came is no answer';
  const failure = new DialecticError('provider_bad_response', message, {
    details: { usage: USAGE },
  });
  await expect(ask(() => Promise.reject(failure))).rejects.toThrow(message);
  expect(await holds()).toEqual([{ status: 'posted', postings: 1 }]);
}, 30_000);

test('a call that was not answered is void', async () => {
  await failPostings(0);
  const failure = new DialecticError('provider_unreachable', 'away');
  await expect(ask(() => Promise.reject(failure))).rejects.toThrow('away');
  expect(await holds()).toEqual([{ status: 'void', postings: 0 }]);
}, 30_000);

test('searches that were answered are posted once, by another try where one fails', async () => {
  await failPostings(2);
  await expect(search()).rejects.toThrow('the second was not answered');
  expect(await holds()).toEqual([{ status: 'posted', postings: 1 }]);
}, 30_000);
