import { hash } from 'node:crypto';
import type { SourceDraft } from './source.ts';

/** Parameters that say how a reader came, and nothing of what is read. */
const TRACKING = new Set(
  `gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid igsh mc_cid mc_eid
_hsenc _hsmi hsctatracking vero_id oly_anon_id oly_enc_id wickedid ref_src ref_url _ga _gl mkt_tok
s_cid spm si`.split(/\s+/),
);

/** An address that is canonical but for its scheme, `www.` and last slash: most are. */
const PLAIN = /^https?:\/\/(?:www\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)+(?:\/[A-Za-z0-9_-]+)*)\/?$/;

const DOI = /\b(10\.\d{4,9}\/[^\s?#"<>]+[^\s?#"<>.,;:)\]])/;
const PAPER = String.raw`((?:[a-z-]+(?:\.[A-Z]{2})?/\d{7})|\d{4}\.\d{4,5})(?:v\d+)?`;
const ARXIV = new RegExp(String.raw`^/(?:abs|pdf|html)/${PAPER}(?:\.pdf)?$`);
/** A paper by its number, `arXiv:2604.03173`, and by the DOI that arXiv gives to each. */
const ARXIV_NUMBER = new RegExp(String.raw`^arxiv:\s?${PAPER}$`, 'i');
const ARXIV_DOI = new RegExp(String.raw`^10\.48550/arxiv\.${PAPER}$`, 'i');

/**
 * What makes two finds the same source: DOI, arXiv number, ISBN, address, or the text itself where there
 * is none of these.
 */
export function canonicalKey(draft: SourceDraft): string {
  const { doi, isbn, url } = draft;
  const ownDoi = doi === undefined ? undefined : DOI.exec(doi)?.[1];
  if (ownDoi !== undefined) return keyOfDoi(ownDoi);
  const book = isbn === undefined ? undefined : canonicalIsbn(isbn);
  if (book !== undefined) return `isbn:${book}`;
  return (url === undefined ? undefined : canonicalUrl(url)) ?? keyOfText(draft);
}

function keyOfDoi(doi: string): string {
  const paper = ARXIV_DOI.exec(doi)?.[1];
  return paper === undefined ? `doi:${doi.toLowerCase()}` : `arxiv:${paper}`;
}

/** Texts that differ in their white space or composition of letters alone are one. */
function keyOfText({ title, excerpts }: SourceDraft): string {
  const text = [title, ...excerpts].join('\n').normalize('NFC').replace(/\s+/g, ' ').trim();
  return `text:${hash('sha256', text, 'hex')}`;
}

/**
 * The key of an address (RFC 3986): scheme, `www.`, default port, user, fragment and tracking
 * parameters say nothing of what is read; case in paths does, and is kept. Undefined for what is no
 * address of the web.
 */
export function canonicalUrl(text: string): string | undefined {
  const plain = PLAIN.exec(text)?.[1];
  if (plain !== undefined && !isRegistry(plain)) return `url:${plain}`;
  const paper = ARXIV_NUMBER.exec(text)?.[1];
  if (paper !== undefined) return `arxiv:${paper}`;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  const host = url.hostname.replace(/^www\./, '').replace(/\.$/, '');
  const work = canonicalWork(host, url);
  if (work !== undefined) return work;
  const port = isDefaultPort(url) ? '' : `:${url.port}`;
  const path = withoutSlashes(normalisePercents(url.pathname));
  return `url:${host}${port}${path}${canonicalQuery(url)}`;
}

const isRegistry = (plain: string): boolean => /^(?:(?:dx\.)?doi|arxiv)\.org/.test(plain);

/** One work has one key, whichever of the registries' addresses leads to it. */
function canonicalWork(host: string, { pathname }: URL): string | undefined {
  if (host === 'doi.org' || host === 'dx.doi.org') {
    const doi = DOI.exec(decode(pathname))?.[1];
    return doi === undefined ? undefined : keyOfDoi(doi);
  }
  const paper = host === 'arxiv.org' ? ARXIV.exec(pathname)?.[1] : undefined;
  return paper === undefined ? undefined : `arxiv:${paper}`;
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** The scheme is no part of the key, so the other scheme's port is a default, too. */
const isDefaultPort = ({ port }: URL): boolean => port === '' || port === '80' || port === '443';

const isTracking = (name: string): boolean =>
  name.startsWith('utm_') || TRACKING.has(name.toLowerCase());

function canonicalQuery({ search }: URL): string {
  if (search === '') return '';
  const pairs = search.slice(1).split('&');
  const kept = pairs.filter((pair) => pair !== '' && !isTracking(pair.split('=', 1)[0] ?? ''));
  return kept.length === 0 ? '' : `?${kept.map(normalisePercents).toSorted().join('&')}`;
}

/** Letters that need no escape are written plainly, and the rest in upper case. */
const normalisePercents = (text: string): string =>
  text.replace(/%[0-9a-f]{2}/gi, (escaped) => {
    const letter = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(letter) ? letter : escaped.toUpperCase();
  });

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The thirteen digits of a book; undefined where the last digit does not check. */
function canonicalIsbn(text: string): string | undefined {
  const digits = text.replace(/[^0-9Xx]/g, '').toUpperCase();
  if (/^\d{13}$/.test(digits)) {
    return checkDigit13(digits.slice(0, 12)) === digits[12] ? digits : undefined;
  }
  if (!/^\d{9}[\dX]$/.test(digits) || !isIsbn10(digits)) return undefined;
  const first = `978${digits.slice(0, 9)}`;
  return first + checkDigit13(first);
}

function checkDigit13(digits: string): string {
  const sum = digits
    .split('')
    .reduce((all, digit, at) => all + Number(digit) * (at % 2 === 0 ? 1 : 3), 0);
  return String((10 - (sum % 10)) % 10);
}

function isIsbn10(digits: string): boolean {
  const values = digits.split('').map((digit) => (digit === 'X' ? 10 : Number(digit)));
  return values.reduce((all, value, at) => all + value * (10 - at), 0) % 11 === 0;
}
