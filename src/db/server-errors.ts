import type { ErrorCode } from '../errors/error-codes.ts';
import { codeOf, DialecticError, type ErrorOptions, messageOf } from '../errors/errors.ts';
import type { HideSecrets } from '../text/hide-fragments.ts';

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOENT',
]);
const LOST =
  /connection terminated|^timeout expired$|Client has encountered a connection error|Client was closed/i;
/** What the pool says when all its connections are in use for too long. */
const POOL_BUSY = 'timeout exceeded when trying to connect';

/** What node-postgres says of a failed connection; several addresses fail with several errors. */
function readError(error: unknown, hide: HideSecrets): { code: string; message: string } {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const message = messageOf(error) || (inner ? messageOf(inner) : 'no reason given');
  return { code: codeOf(error), message: hide(message) };
}

const asItIs: HideSecrets = (text) => text;

/** Tells a server that is away or busy (worth another try) from one that says no. */
export function explainConnection(
  error: unknown,
  hide: HideSecrets = asItIs,
): DialecticError | undefined {
  const { code, message } = readError(error, hide);
  const coded = (errorCode: ErrorCode, what: string, options: ErrorOptions = {}) =>
    new DialecticError(errorCode, `The database server ${what}: ${message}`, {
      cause: error,
      ...options,
    });
  if (code === '53300' || message === POOL_BUSY) return coded('database_busy', 'is busy');
  if (NETWORK_CODES.has(code) || /^(08|57P0)/.test(code) || LOST.test(message)) {
    return coded('database_unreachable', 'is away');
  }
  if (/^(28|3D)/.test(code)) return coded('database_refused', 'refused');
  return undefined;
}

/** A connection that did not come about: whatever has no better name was refused. */
export function explainConnecting(error: unknown, hide: HideSecrets = asItIs): DialecticError {
  if (error instanceof DialecticError) return error;
  const explained = explainConnection(error, hide);
  if (explained) return explained;
  const message = `The database server refused: ${readError(error, hide).message}`;
  return new DialecticError('database_refused', message, { cause: error });
}

/** Refuses what is no address of a server, without repeating it: it may hold a password. */
export function checkUrl(text: string): string {
  if (!/^postgres(ql)?:\/\/./.test(text)) throw wrongUrl('must begin with postgres://');
  if (parseUrl(text)?.hash === '') return text;
  throw wrongUrl('is not an address; write # as %23, / as %2F and @ as %40 in a password');
}

/** As libpq has it, a user may stand before no host: the query, or a default, then names it. */
const parseUrl = (text: string): URL | null =>
  URL.parse(text) ?? URL.parse(text.replace(/^([a-z]+:\/\/[^/?#@]*@)(?=[/?])/, '$1localhost'));

/**
 * The login and the database that an address names, read as node-postgres does; '' where it names
 * none. No file is opened: node-postgres reads the certificates of an address at once.
 */
export function readAccount(text: string): { user: string; database: string } {
  const { username, pathname, searchParams } = parseUrl(checkUrl(text))!;
  return {
    user: searchParams.get('user') || decoded(username),
    database: decoded(pathname.slice(1)),
  };
}

/**
 * The passwords in an address, as they are written and as they are meant. One that equals the name of
 * the login or of the database is no secret: hiding it would blot these names out of every message.
 */
export function passwordsIn(text: string): string[] {
  const url = parseUrl(text);
  if (!url) return [];
  const given = [...url.searchParams].filter(([name]) => /pass/i.test(name));
  const written = [url.password, ...given.map(([, value]) => value)];
  const names = Object.values(readAccount(text)).map((name) => name.toLowerCase());
  return written
    .filter((one) => !names.includes(decoded(one).toLowerCase()))
    .flatMap((one) => [one, decoded(one)])
    .filter((one) => one !== '');
}

/** A password with a sign of per cent that begins no escape is as it is written. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function wrongUrl(problem: string): DialecticError {
  return new DialecticError('usage_invalid', `DATABASE_URL ${problem}.`);
}

/** Which server and database an address means, without its user and password. */
export function describeUrl(text: string): string {
  const { host, pathname, searchParams } = parseUrl(checkUrl(text))!;
  const named = searchParams.get('host') ?? decoded(host);
  if (named.startsWith('/')) return `${pathname.slice(1) || 'the default database'} at ${named}`;
  return `${named || 'localhost'}${pathname}`;
}
