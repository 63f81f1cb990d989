/** For the screen, wherever an offline persona takes part. */
export const OFFLINE_NOTICE =
  'Offline author: no language model writes here. Sentences are taken from the request and the ' +
  'documents by fixed rules, to show the process and to test it, not to give advice.';

/** Stands once in every document; readers of documents leave it out again. */
export const DOCUMENT_NOTICE =
  'No language model wrote this document: fixed rules put it together from the request and the ' +
  'inputs.';
