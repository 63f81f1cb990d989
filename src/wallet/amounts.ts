import { DialecticError } from '../errors/errors.ts';
import { countNoun } from '../text/count-noun.ts';
import type { Currency } from './ledger.ts';

/**
 * The most that one amount or one wallet may be: a billion dollars in millionths, or 10^15 tokens.
 * Eight times as much still fits a number exactly, so sums of a few stay exact.
 */
export const GREATEST_AMOUNT = 1_000_000_000_000_000;

/** Refuses what no ledger row may hold; `what` begins the message. */
export function checkAmount(amount: number, currency: Currency, what: string): void {
  if (Number.isSafeInteger(amount) && amount >= 0 && amount <= GREATEST_AMOUNT) return;
  if (!(amount > GREATEST_AMOUNT)) {
    throw new DialecticError('internal_error', `${what} is ${amount}, which is no amount.`);
  }
  const most = formatAmount(GREATEST_AMOUNT, currency);
  throw new DialecticError('amount_too_large', `${what} is more than ${most}.`, {
    details: { greatest: GREATEST_AMOUNT, currency },
  });
}

/** Reads an amount that a person typed: dollars to the millionth, or whole tokens. */
export function parseAmount(text: string, currency: Currency): number {
  const pattern = currency === 'USD' ? /^\$?(\d{1,400})(?:\.(\d{1,6}))?$/ : /^(\d{1,400})$/;
  const found = pattern.exec(text.trim().replaceAll('_', ''));
  if (!found) {
    const wanted = currency === 'USD' ? 'dollars such as 2.50' : 'a whole number of tokens';
    throw new DialecticError('usage_invalid', `"${text}" is not an amount: give ${wanted}.`);
  }
  const [, whole, part = ''] = found;
  const amount =
    currency === 'USD' ? Number(whole) * 1_000_000 + Number(part.padEnd(6, '0')) : Number(whole);
  checkAmount(amount, currency, `"${text}"`);
  return amount;
}

/** Dollars as a number for programs; exact to the millionth. */
export const toUsd = (micros: number): number => micros / 1_000_000;

/** An amount for people. */
export function formatAmount(amount: number, currency: Currency): string {
  if (currency === 'token') return countNoun(amount, 'token');
  const digits = Math.abs(amount) % 10_000 === 0 ? 2 : 6;
  return `${amount < 0 ? '-' : ''}$${toUsd(Math.abs(amount)).toFixed(digits)}`;
}
