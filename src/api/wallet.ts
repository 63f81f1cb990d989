import type { Transaction } from '../db/transaction.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { searchCostMicros } from '../models/search-prices.ts';
import { newId } from '../platform/ids.ts';
import { findProject } from '../session/project.ts';
import { parseAmount, toUsd } from '../wallet/amounts.ts';
import {
  type Balance,
  type BudgetState,
  type LedgerEntry,
  readBalances,
  readBudgets,
  readHistory,
} from '../wallet/balances.ts';
import { settleLeftHolds } from '../wallet/holds.ts';
import {
  type Currency,
  grantFunds,
  refundCall,
  removeLimit,
  setBudget,
  setSpendingShare,
} from '../wallet/ledger.ts';
import { holdSearches, postSearches } from '../wallet/search-charges.ts';
import { type Plain, toPlain } from './plain.ts';
import type { Store } from './store.ts';

/** Whose wallet, and of what; the user's where no project is named. */
export type WalletOptions = {
  readonly currency?: Currency | undefined;
  /** The project's name or id. */
  readonly project?: string | undefined;
};

export type GrantOptions = WalletOptions & {
  /** The same key grants only once. */
  readonly key?: string | undefined;
  readonly note?: string | undefined;
};

export type RefundOptions = {
  readonly currency?: Currency | undefined;
  /** The same key refunds only once. */
  readonly key?: string | undefined;
  readonly note?: string | undefined;
};

const unknownPosting = (posting: number): DialecticError =>
  new DialecticError('not_found', `No call was posted as ${posting}.`, {
    action: 'The column `posting` of `dialectic wallet report --csv` has them.',
  });

/** What there is to spend and what was spent; amounts are micro-dollars, or tokens. */
export class Wallet {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Every account and budget. */
  balance(): Promise<{ readonly accounts: Balance[]; readonly budgets: BudgetState[] }> {
    return this.#write(async (tx) => {
      await settleLeftHolds(tx);
      const accounts = await readBalances(tx);
      return { accounts, budgets: await readBudgets(tx) };
    });
  }

  /** What moved on the wallet, the newest first. */
  async history(most = 50): Promise<readonly Plain<LedgerEntry>[]> {
    return toPlain(await this.#write((tx) => readHistory(tx, most)));
  }

  /** Adds to a wallet, which has a limit from then on. Dollars, or tokens. */
  async grant(amount: number | string, options: GrantOptions = {}) {
    const { currency = 'USD', project, key, note } = options;
    const sum = parseAmount(String(amount), currency);
    if (sum === 0) throw new DialecticError('usage_invalid', 'Grant more than nothing.');
    const posting = await this.#write(async (tx) =>
      grantFunds(tx, {
        key: `grant/${key ?? newId()}`,
        currency,
        amount: sum,
        projectId: project ? await findProject(tx, project) : null,
        ...(note && { note }),
      }),
    );
    return { posting, currency, amount: sum };
  }

  /**
   * Books what a provider gave back for a call, named by its posting; never more than was paid for it.
   * Dollars, or tokens.
   */
  async refund(posting: number, amount: number | string, options: RefundOptions = {}) {
    const { currency = 'USD', key, note } = options;
    const sum = parseAmount(String(amount), currency);
    if (sum === 0) throw new DialecticError('usage_invalid', 'Refund more than nothing.');
    const refund = await this.#write((tx) =>
      refundCall(tx, {
        key: `refund/${key ?? newId()}`,
        postingId: posting,
        usdMicros: currency === 'USD' ? sum : 0,
        tokens: currency === 'token' ? sum : 0,
        ...(note && { note }),
      }),
    ).catch((thrown: unknown) => {
      throw toDialecticError(thrown).code === 'not_found' ? unknownPosting(posting) : thrown;
    });
    return { posting: refund, refunds: posting, currency, amount: sum };
  }

  /**
   * Pays for searches of the web with a service before they are made, at list price, from the user's
   * wallet. Gives what was paid, in dollars, and its posting, which `refund` takes; null where the
   * service is free.
   */
  async paySearches(
    service: string,
    count: number,
  ): Promise<{ readonly posting: number; readonly usd: number } | null> {
    const searches = { service, count, sessionId: null };
    const callId = newId();
    const usd = toUsd(searchCostMicros(service, count));
    return this.#write(async (tx) => {
      const held = await holdSearches(tx, callId, searches);
      if (held === null) return null;
      if (held.outcome !== 'held') {
        const message = `${count} searches with ${service} cost $${usd.toFixed(3)}, which is not left.`;
        throw new DialecticError('funds_short', message, { details: { service, count, usd } });
      }
      return { posting: await postSearches(tx, callId, searches), usd };
    });
  }

  /** Takes the limit off a wallet. */
  async removeLimit({ currency = 'USD', project }: WalletOptions = {}): Promise<void> {
    await this.#write(async (tx) => {
      const id = project ? await findProject(tx, project) : null;
      await removeLimit(tx, currency, id);
    });
  }

  /** Caps all spending, or that of a project; null takes the cap away. Dollars, or tokens. */
  async setBudget(amount: number | string | null, options: WalletOptions = {}) {
    const { currency = 'USD', project } = options;
    const { tenantId } = this.#store;
    const most = amount === null ? null : parseAmount(String(amount), currency);
    const scope = project ? ('project' as const) : ('tenant' as const);
    await this.#write(async (tx) => {
      const ownerId = project ? await findProject(tx, project) : tenantId;
      await setBudget(tx, { scope, ownerId, currency, amount: most });
    });
    return { scope, currency, amount: most };
  }

  /** Sets how many percent of the wallet a single unplanned call may spend without asking. */
  async setShare(percent: number): Promise<void> {
    if (!(percent >= 0 && percent <= 100)) {
      throw new DialecticError('usage_invalid', 'A share is a number from 0 to 100.');
    }
    await this.#write((tx) => setSpendingShare(tx, percent / 100));
  }

  #write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#store.database.asTenant(this.#store.tenantId, work);
  }
}
