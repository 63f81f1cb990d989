import { DialecticError } from '../platform/errors.ts';
import type { Currency } from './ledger.ts';

/** Reads an amount that a person typed: dollars to the millionth, or whole tokens. */
export function parseAmount(text: string, currency: Currency): number {
  const pattern = currency === 'USD' ? /^\$?(\d{1,9})(?:\.(\d{1,6}))?$/ : /^(\d{1,15})$/;
  const found = pattern.exec(text.trim().replaceAll('_', ''));
  if (!found) {
    const wanted = currency === 'USD' ? 'dollars such as 2.50' : 'a whole number of tokens';
    throw new DialecticError('usage_invalid', `"${text}" is not an amount: give ${wanted}.`);
  }
  const [, whole, part = ''] = found;
  return currency === 'USD'
    ? Number(whole) * 1_000_000 + Number(part.padEnd(6, '0'))
    : Number(whole);
}

/** Dollars as a number for programs; exact to the millionth. */
export const toUsd = (micros: number): number => micros / 1_000_000;

/** An amount for people. */
export function formatAmount(amount: number, currency: Currency): string {
  if (currency === 'token') return `${amount.toLocaleString('en')} tokens`;
  const digits = Math.abs(amount) % 10_000 === 0 ? 2 : 6;
  return `${amount < 0 ? '-' : ''}$${toUsd(Math.abs(amount)).toFixed(digits)}`;
}
