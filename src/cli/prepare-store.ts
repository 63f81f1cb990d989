import { prepareThread } from '../db/pglite-connection.ts';

/** The commands that open a store before they do anything else. */
const OPENING = new Set(
  (
    'run resume replay pause cancel watch list project show open export approve feedback questions ' +
    'answer choose iterate notices wallet worker sources demo'
  ).split(' '),
);

/** Lets the database's thread load its modules while this one loads those of the command. */
export function prepareStore([verb = '', ...rest]: readonly string[]): void {
  const isOnServer = Boolean(process.env['DATABASE_URL']) && !rest.includes('--data');
  const isHelp = rest.includes('--help') || rest.includes('-h');
  if (OPENING.has(verb) && !isOnServer && !isHelp) prepareThread();
}
