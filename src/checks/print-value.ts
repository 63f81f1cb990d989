import { type Day, sayDay, sayDays } from '../text/day.ts';

/** How values are written in one language. */
export type Printer = {
  readonly hours: (low: number, high: number) => string;
  readonly money: (amount: number, currency: string) => string;
  /** A share from 0 to 1, in whole percent. */
  readonly share: (value: number) => string;
  readonly count: (value: number) => string;
  readonly day: (day: Day) => string;
  readonly days: (from: Day, to: Day) => string;
};

/** A language that the runtime does not know is printed as British English. */
export function createPrinter(language: string): Printer {
  const locale = findLocale(language);
  const format = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
    new Intl.NumberFormat(locale, options);
  const hours = format({
    style: 'unit',
    unit: 'hour',
    unitDisplay: 'long',
    maximumFractionDigits: 1,
  });
  return {
    hours: (low, high) => (low === high ? hours.format(low) : hours.formatRange(low, high)),
    money: (amount, currency) => {
      const digits = Number.isInteger(amount) ? 0 : 2;
      const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
      if (!/^[A-Z]{3}$/.test(currency))
        return `${format(fraction).format(amount)} ${currency}`.trim();
      return format({
        style: 'currency',
        currency,
        currencyDisplay: 'narrowSymbol',
        ...fraction,
      }).format(amount);
    },
    share: (value) => format({ style: 'percent', maximumFractionDigits: 0 }).format(value),
    count: (value) => format({ maximumFractionDigits: 0 }).format(value),
    day: (day) => sayDay(day, locale),
    days: (from, to) => sayDays(from, to, locale),
  };
}

function findLocale(language: string): string {
  if (language === '' || language === 'en') return 'en-GB';
  try {
    return Intl.NumberFormat.supportedLocalesOf(language)[0] ?? 'en-GB';
  } catch {
    return 'en-GB';
  }
}
