import { DOCUMENT_NOTICE } from './notice.ts';

/**
 * What an offline author says about documents and not about their subject. It holds for the
 * document that it stands in, so that whoever reads that document must not carry it on.
 */
const ABOUT_DOCUMENTS = [
  /^Of the \d+ requirements of the request, /,
  /^(?:Thin|Not taken up): /,
  /^They differ here: /,
  /^The proposal rests on this: /,
  /^It also says /,
  / comes? first with \d/,
  /^Score \d/,
  /^Takes up \d+ of the \d+ requirements/,
  /^The request: /,
  /^None of the \d+ statements of /,
  /^(?:One|\d+) of the \d+ statements of /,
  /, \d+ statements[.;]?$/,
  /^[A-Z]{1,4}-?\d+(?:\.\d+)*: /,
  /\(R\d+\), .*\(R\d+\)/,
];

export const isAboutDocuments = (text: string): boolean =>
  ABOUT_DOCUMENTS.some((pattern) => pattern.test(text));

export const withoutNotice = (text: string): string => text.replaceAll(DOCUMENT_NOTICE, ' ').trim();
