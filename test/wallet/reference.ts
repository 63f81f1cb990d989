import type { Command } from './commands.ts';

type Wallet = { limited: boolean; balance: number; held: number };
type Hold = { usd: number; tokens: number; status: string; content: string };
type Paid = { usd: number; tokens: number };

/** The ledger in sixty lines: what the database must do, with nothing of how. */
export class ReferenceLedger {
  readonly usd: Wallet = { limited: false, balance: 0, held: 0 };
  readonly token: Wallet = { limited: false, balance: 0, held: 0 };
  readonly holds = new Map<string, Hold>();
  cost = { usd: 0, token: 0 };
  budget: { amount: number } | null = null;
  readonly #paid = new Map<string, Paid>();
  readonly #keys = new Map<string, string>();

  /** Does a command and says how it must end. */
  apply(command: Command): string {
    if (command.do === 'grant')
      return this.#once(`g${command.key}`, command, () => this.#grant(command));
    if (command.do === 'hold') return this.#hold(command);
    if (command.do === 'refund') return this.#refund(command);
    if (command.do === 'budget') {
      this.budget = command.amount === null ? null : { amount: command.amount };
      return 'done';
    }
    const hold = this.holds.get(command.call);
    if (!hold) return 'hold_missing';
    if (command.do === 'post') return this.#post(command, hold);
    if (hold.status === 'posted') return command.do === 'void' ? 'hold_closed' : 'false';
    if (hold.status === 'held') this.#release(hold, command.do === 'void' ? 'void' : 'expired');
    return 'true';
  }

  /** The same key again: the first result, or a refusal of other content. */
  #once(key: string, command: Command, act: () => string): string {
    const content = JSON.stringify(command);
    const known = this.#keys.get(key);
    if (known !== undefined) return known === content ? key : 'idempotency_mismatch';
    const outcome = act();
    if (outcome !== 'done') return outcome;
    this.#keys.set(key, content);
    return key;
  }

  #grant({ currency, amount }: Extract<Command, { do: 'grant' }>): string {
    const wallet = currency === 'USD' ? this.usd : this.token;
    if (!wallet.limited) wallet.balance = wallet.held;
    wallet.limited = true;
    wallet.balance += amount;
    return 'done';
  }

  #hold({ call, usd, tokens, automatic }: Extract<Command, { do: 'hold' }>): string {
    const known = this.holds.get(call);
    const content = `${usd}/${tokens}`;
    if (known) return known.content === content ? known.status : 'idempotency_mismatch';
    const limits = [
      {
        gate: 'budget',
        of: this.budget && {
          limited: true,
          balance: this.budget.amount - this.cost.usd,
          held: this.usd.held,
        },
        need: usd,
      },
      { gate: 'funds', of: this.usd, need: usd },
      { gate: 'funds', of: this.token, need: tokens },
    ].filter(({ of }) => of?.limited);
    const left = (of: Wallet | null): number => of!.balance - of!.held;
    const short = limits.filter(({ of, need }) => need > 0 && left(of) < need);
    if (short.length > 0) return short.find(({ of }) => of!.held === 0)?.gate ?? 'wait';
    const share = limits.some(({ gate, of, need }) => gate === 'funds' && need > 0.2 * left(of));
    if (automatic && share) return 'approval';
    this.holds.set(call, { usd, tokens, status: 'held', content });
    this.usd.held += usd;
    this.token.held += tokens;
    return 'held';
  }

  #release(hold: Hold, status: string): void {
    hold.status = status;
    this.usd.held -= hold.usd;
    this.token.held -= hold.tokens;
  }

  #post(command: Extract<Command, { do: 'post' }>, hold: Hold): string {
    return this.#once(`p${command.call}`, command, () => {
      if (hold.status !== 'held') return 'hold_closed';
      this.#release(hold, 'posted');
      const pay = (wallet: Wallet, cost: number): number => {
        const paid = wallet.limited ? Math.min(cost, wallet.balance - wallet.held) : cost;
        wallet.balance -= paid;
        return paid;
      };
      const { usd, tokens } = command;
      this.#paid.set(command.call, { usd: pay(this.usd, usd), tokens: pay(this.token, tokens) });
      this.cost = { usd: this.cost.usd + usd, token: this.cost.token + tokens };
      return 'done';
    });
  }

  #refund(command: Extract<Command, { do: 'refund' }>): string {
    const { key, call, usd, tokens } = command;
    return this.#once(`r${key}`, command, () => {
      const paid = this.#paid.get(call);
      if (!paid) return 'not_found';
      if (usd > paid.usd || tokens > paid.tokens) return 'refund_too_large';
      this.#paid.set(call, { usd: paid.usd - usd, tokens: paid.tokens - tokens });
      this.usd.balance += usd;
      this.token.balance += tokens;
      this.cost = { usd: this.cost.usd - usd, token: this.cost.token - tokens };
      return 'done';
    });
  }
}
