import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { ClientBase, QueryResult } from 'pg';
import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { storeRoles } from '../store-roles.ts';
import { type Command, expand, type Script, script } from './commands.ts';
import { ReferenceLedger } from './reference.ts';

/** Runs one command and says how it ended; a posting is named by its key, a refusal by its code. */
const TRY = `
create function try_command(c jsonb) returns text language plpgsql as $$
declare
  tenant uuid := current_tenant();
  wanted uuid := md5(tenant || (c->>'call'))::uuid;
  usd bigint := c->>'usd';
  tokens bigint := c->>'tokens';
  made bigint;
  told text;
begin
  case c->>'do'
    when 'hold' then
      select outcome into told from hold_funds(tenant, wanted, 'call', null, 'x', usd, tokens, 0, 0,
        (c->>'automatic')::boolean);
      return told;
    when 'budget' then
      perform set_budget(tenant, 'tenant', tenant, 'USD', (c->>'amount')::bigint);
      return 'done';
    when 'grant' then
      made := grant_funds(tenant, 'g' || (c->>'key'), null, c->>'currency', (c->>'amount')::bigint,
        '{}');
    when 'post' then
      made := post_call(tenant, wanted, 'call', usd, tokens, (c->>'estimated')::boolean, '{}');
    when 'refund' then
      select q.id into made from postings q where q.tenant_id = tenant and q.call_id = wanted;
      made := refund_call(tenant, 'r' || (c->>'key'), made, usd, tokens, '{}');
    else
      return close_hold(tenant, wanted, 'call',
        case c->>'do' when 'void' then 'void' else 'expired' end)::text;
  end case;
  return (select case when p.call_id = wanted then 'p' || (c->>'call') else p.key end
    from postings p where p.tenant_id = tenant and p.id = made);
exception when sqlstate 'DX000' then
  get stacked diagnostics told = pg_exception_hint;
  return told;
end
$$`;

/** Sends commands over a few connections that have taken the role of the program. */
export class Campaign {
  readonly #clients: ClientBase[];
  readonly #role: string;
  readonly #release: () => Promise<void>;

  private constructor(clients: ClientBase[], role: string, release: () => Promise<void>) {
    this.#clients = clients;
    this.#role = role;
    this.#release = release;
  }

  /** On a server fifty calls at once come over several connections; the embedded one has one. */
  static async open(database: Database): Promise<Campaign> {
    await database.transaction({ as: 'owner' }, (tx) => tx.query(TRY));
    const { app } = await storeRoles(database);
    const many = database.driver.kind === 'server' ? 6 : 1;
    const held = await Promise.all(Array.from({ length: many }, () => database.driver.acquire()));
    const clients = held.map(({ client }) => client);
    const reset = 'rollback; reset role; reset synchronous_commit; reset dialectic.tenant';
    return new Campaign(clients, app, async () => {
      for (const { client, release } of held) {
        await client.query(reset);
        release();
      }
    });
  }

  close(): Promise<void> {
    return this.#release();
  }

  /** Tries that many scripts; a divergence is shrunk to the shortest script that shows it. */
  async check(numRuns: number, seed: number): Promise<void> {
    await fc.assert(
      fc.asyncProperty(script, (one) => this.#run(one)),
      { numRuns, seed, endOnFailure: false },
    );
  }

  async #run(one: Script): Promise<void> {
    const tenant = randomUUID();
    const [first] = this.#clients;
    await first!.query(
      `rollback; reset role; insert into tenants (tenant_id, name) values ('${tenant}', 't')`,
    );
    for (const client of this.#clients) {
      await client.query(
        `set synchronous_commit = off; set role ${this.#role}; set dialectic.tenant = '${tenant}'`,
      );
    }
    const ledger = new ReferenceLedger();
    const sent = expand(one);
    const cut = one.rush ? Math.min(one.rush.at, sent.length) : sent.length;
    await this.#inTurn(ledger, sent.slice(0, cut));
    if (one.rush) await this.#rush(ledger, one.rush.usd);
    await this.#inTurn(ledger, sent.slice(cut));
    await expectSame(first!, ledger);
  }

  /** One round trip for all; each command is a transaction of its own. */
  async #inTurn(ledger: ReferenceLedger, commands: readonly Command[]): Promise<void> {
    if (commands.length === 0) return;
    const text = commands.map((command) => `begin; select ${call(command)}; commit`).join(';');
    const answers = (await this.#clients[0]!.query(text)) as unknown as QueryResult[];
    const got = answers
      .filter(({ command }) => command === 'SELECT')
      .map(({ rows }) => rows[0].told);
    expect(got).toEqual(commands.map((command) => ledger.apply(command)));
  }

  /** Fifty calls at once: as many get through as there is money for, whatever their order. */
  async #rush(ledger: ReferenceLedger, usd: number): Promise<void> {
    const rush = Array.from({ length: 50 }, (_, n): Command & { do: 'hold' } => {
      return { do: 'hold', call: `rush${n}`, usd, tokens: 0, automatic: false };
    });
    const lines = this.#clients.map(async (client, line) => {
      const answers: { command: Command; told: string }[] = [];
      for (const command of rush.filter((_, n) => n % this.#clients.length === line)) {
        const { rows } = await client.query(`select ${call(command)}`);
        answers.push({ command, told: rows[0].told as string });
      }
      return answers;
    });
    const got = (await Promise.all(lines)).flat();
    const through = got.filter(({ told }) => told === 'held');
    const ordered = [...through, ...got.filter(({ told }) => told !== 'held')];
    expect(ordered.map(({ told }) => told)).toEqual(
      ordered.map(({ command }) => ledger.apply(command)),
    );
  }
}

const call = (command: Command): string => `try_command('${JSON.stringify(command)}') as told`;

/** Balances, holds and chains of entries are those of the reference, and everything sums to zero. */
async function expectSame(client: ClientBase, ledger: ReferenceLedger): Promise<void> {
  const { rows } = await client.query(`select
    (select jsonb_object_agg(kind || '/' || currency, jsonb_build_array(balance, held))
      from accounts) as accounts,
    (select count(*) from accounts where not unlimited and balance < held) as negative,
    (select count(*) from (select from entries group by currency having sum(amount) <> 0))
      as uneven,
    (select count(*) from accounts a left join lateral (select max(seq) as last, count(*) as n,
        sum(amount) as total from entries e where e.account_id = a.id) as e on true
      left join entries l on l.account_id = a.id and l.seq = e.last
      where e.n <> a.entry_count or coalesce(e.last, 0) <> a.entry_count
        or coalesce(e.total, 0) <> a.balance or coalesce(l.balance, 0) <> a.balance) as broken,
    (select coalesce(sum(usd), 0) from holds where status = 'held') as open,
    (select coalesce(jsonb_agg(jsonb_build_array(amount, spent, held)), '[]') from budgets) as budgets`);
  const [{ accounts, budgets, open, ...faults }] = rows;
  const { usd, token, cost, budget } = ledger;
  expect(faults).toEqual({ negative: 0, uneven: 0, broken: 0 });
  expect(Number(open)).toBe(usd.held);
  expect(budgets).toEqual(budget ? [[budget.amount, cost.usd, usd.held]] : []);
  const of = (name: string): number[] => accounts?.[name] ?? [0, 0];
  expect(of('user/USD')).toEqual([usd.balance, usd.held]);
  expect(of('user/token')).toEqual([token.balance, token.held]);
  expect(of('provider/USD')).toEqual([cost.usd, 0]);
  expect(of('provider/token')).toEqual([cost.token, 0]);
}
