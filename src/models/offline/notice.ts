import { PERSONAS, type PersonaName } from './personas.ts';

/** For the screen, wherever an offline persona takes part. */
export const OFFLINE_NOTICE =
  'Offline author: no language model writes here. Sentences are taken from the request and the ' +
  'documents by fixed rules, to show the process and to test it, not to give advice.';

/** Stands once in every document; the inputs that it names keep it from being their echo. */
export const noticeOf = (persona: PersonaName, labels: readonly string[]): string =>
  'No language model wrote this document: fixed rules put it together from ' +
  `${['the request', ...labels].slice(0, 3).join(', ').replaceAll('.', '')}, with sentences on ` +
  `${PERSONAS[persona].concern} first.`;

/** A text without any notice: each holds for the document that it stands in, and for no other. */
export const withoutNotice = (text: string): string =>
  text.replace(/No language model wrote this document: [^.]*\./g, '');
