import type { Statement } from './statement.ts';
import { anyOf } from './vocabulary.ts';

const NAME = String.raw`\p{Lu}[\p{L}\p{N}+#]*(?:[.-]\p{L}+)?(?:\s\p{Lu}[\p{L}\p{N}+#]+){0,2}`;
/** Words that stand before a system that is used, not before a place or a date. */
const BEFORE = anyOf(`
  on, with, via, using, uses?, used, through, into, integrat\\w+, connect\\w*(?: (?:to|with))?
  from our, our, replac\\w+, migrat\\w+ (?:to|from), built on, based on, behind, against, runs?`);
const KINDS = anyOf(`
  API, app, service, system, platform, server, database, cloud, account, plugin, terminal, till
  ledger`);
const USED = new RegExp(String.raw`${BEFORE.source}\s+(?:the\s+)?(${NAME})`, 'gu');
const KIND = new RegExp(String.raw`(?<!^|[\p{L}\p{N}_+#])(${NAME})\s+${KINDS.source}`, 'gu');
/** `PostgreSQL`, `OAuth2`, `iCal`: capitals or digits within a word. */
const MIXED = /(?<![\p{L}\p{N}_])(?=\p{L}*\p{Ll})(?=\p{L}+\p{Lu})[\p{L}\p{N}]+(?![\p{L}\p{N}_])/gu;
const NO_SYSTEM = new RegExp(
  `^${
    anyOf(`
  I, A, R\\d+, The, This, These, That, It, We, They, You, If, When, No, Not, And, Or, But, As, In
  For, Personal, Customers?, Staff, Users?, Mondays?, Tuesdays?, Wednesdays?, Thursdays?, Fridays?
  Saturdays?, Sundays?, January, February, March, April, May, June, July, August, September
  October, November, December, Christmas, Easter, EU, UK, USA, US, EUR, USD, GBP, GDPR, DSGVO, CEO
  CTO, KPIs?, MVP, FAQ, Europe\\w*, English, German, French, Spanish`).source
  }$`,
);

/** Names of systems that the material speaks of, the most frequent first. */
export function findSystems(statements: readonly Statement[]): string[] {
  const counts = new Map<string, number>();
  for (const { core } of statements) {
    for (const name of namesIn(core)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([name]) => name);
}

function namesIn(core: string): Set<string> {
  const found = [...core.matchAll(USED), ...core.matchAll(KIND)].map((match) => match[1]!);
  const names = [...found, ...(core.match(MIXED) ?? [])].map((name) =>
    name.replace(/^(?:The|Our)\s/, ''),
  );
  return new Set(names.filter((name) => name.length > 1 && !NO_SYSTEM.test(name)));
}

/** The first of the names that a sentence holds. */
export const systemIn = (core: string, systems: readonly string[]): string =>
  systems.find((name) => core.includes(name)) ?? '';
