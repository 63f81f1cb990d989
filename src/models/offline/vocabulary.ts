/** A pattern for any of the words; a word may use the signs of patterns. */
export const anyOf = (words: string): RegExp =>
  new RegExp(
    String.raw`\b(?:${words
      .trim()
      .split(/[\n,]/)
      .map((word) => word.trim())
      .join('|')})\b`,
    'i',
  );

/** People in their parts. */
export const ACTOR = anyOf(`
  users?, customers?, clients?, visitors?, members?, staff, employees?, admins?, administrators?
  managers?, owners?, operators?, teams?, developers?, engineers?, drivers?, patients?, doctors?
  nurses?, teachers?, students?, parents?, buyers?, sellers?, vendors?, suppliers?, guests?
  editors?, agents?, analysts?, volunteers?, residents?, tenants?, subscribers?, players?
  shoppers?, bakers?, cooks?, accountants?, authors?, reviewers?, technicians?, dispatchers?
  couriers?, auditors?, regulators?, citizens?, donors?, farmers?, mechanics?, librarians?
  readers?, borrowers?, neighbou?rs?, pupils?, guardians?`);

/** Words that allow no exception. */
export const ABSOLUTE = anyOf(`
  always, never, any time, instantly, immediately, real[- ]time, zero, guarantee[ds]?, fully
  completely, seamless(?:ly)?, unlimited`);

/** Words by which a sentence asks for something. */
export const DEMAND = anyOf(`
  must, shall, should, needs?, has to, have to, required?, requires, wants?, would like, can, may
  will, allows?, supports?, lets?, enables?, able to`);

/** Verbs by which a sentence orders something. */
export const ORDER = new RegExp(
  `^${
    anyOf(`
  build, create, add, show, send, support, provide, integrate, use, track, allow, make, design
  implement, store, sync, let, keep, give, write, run, offer, include, connect, notify, record
  plan, replace, migrate, automate, display, import, export, publish, set, print, help, avoid
  develop, do not, don't`).source
  }`,
  'i',
);

/** Bounds: money, dates, law. */
export const LIMIT = new RegExp(
  [
    anyOf(`
  budget, deadline, live by, by the (?:end|first|middle)
  due (?:by|on), law, legal, gdpr, regulation, no time, (?:close|open|end)s? at`).source,
    String.raw`[$€£¥]\s?\d`,
    String.raw`\d\s?(?:€|\$|£|(?:EUR|USD|GBP|dollars?|euros?|pounds?)\b)`,
  ].join('|'),
  'i',
);

/** Bounds, unless the sentence asks for something that has to keep them. */
export const BOUND = anyOf('at most, at least, no more than, no less than, up to, only');

export const LATER = anyOf(`
  later, eventually, some day, in (?:the )?future, maybe, perhaps, optional(?:ly)?, nice to have`);

export const RISK = anyOf(`
  risks?, fail\\w*, outages?, down, delays?, lost, loses?, breach\\w*, attacks?, uncertain\\w*
  unknown, unclear, conflicts?, lacks?, missing, fraud, errors?, late, penalt\\w+, threats?
  break\\w*, waste\\w*, complain\\w*, slow\\w*, wrong, depends? on`);

const COUNTED = anyOf(`
  seconds?, minutes?, hours?, days?, weeks?, months?, years?, taps?, clicks?, steps?, people
  persons?, times?`);
const COUNT = anyOf(`
  one, two, three, four, five, six, seven, eight, nine, ten, twelve, twenty, thirty`);

const NO_UNIT = anyOf(`
  the, a, an, and, or, of, in, on, to, for, with, within, is, are, was, were, by, at, from, as, per
  it, but, when, if, so, that, because, before, after, until`).source;
const UNIT = String.raw`(?:\s?[%€$£]|\s?[kKM]\b|[-\s](?!${NO_UNIT})\p{L}{2,})?`;

/** A time, an amount, or a number with what it counts. */
export const FIGURE = new RegExp(
  [
    String.raw`(?<![A-Za-z\d.])\d{1,2}:\d{2}`,
    String.raw`(?<![A-Za-z\d.])(?:[$€£¥]\s?)?\d+(?:[.,]\d+)*${UNIT}`,
    String.raw`${COUNT.source}\s${COUNTED.source}`,
  ].join('|'),
  'giu',
);
