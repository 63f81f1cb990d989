import { Command } from 'commander';
import type { SessionInfo } from '../api/data.ts';
import type { Dialectic } from '../api/dialectic.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { now } from '../platform/clock.ts';
import { describeVote } from '../session/choice-text.ts';
import type { Page } from '../session/find-page.ts';
import { shortId } from '../session/name-document.ts';
import type { RunResult } from '../session/summary.ts';
import { quoteWord } from '../text/quote-word.ts';
import { describeContexts } from './context-text.ts';
import { describeNext } from './next-step.ts';
import { mentionNotices } from './notices.ts';
import { printResult, printRows } from './output.ts';
import { describeDegraded } from './run.ts';
import { findSession } from './sessions.ts';
import { describeSession } from './show-text.ts';
import { withDialectic } from './store.ts';

type Options = {
  data?: string;
  json?: boolean;
  all?: boolean;
  session?: string;
  context?: string | true;
};

/** `dialectic show`: a session at a glance, or one of its documents. */
export function showCommand(): Command {
  return new Command('show')
    .description('show a session stage by stage, or print one of its documents')
    .argument(
      '[session or document]',
      'an id or the end of it; or key, title or path of a document',
    )
    .option('-s, --session <id>', "the document's session (default: the newest)")
    .option('--all', 'every document, with those that only other steps read, and the whole vote')
    .option(
      '--context [job]',
      'what the request of a job is made of and what would be shortened; of all that wait',
    )
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action((wanted: string | undefined, options: Options) =>
      withDialectic(options.data, async (dialectic) => {
        if (options.context !== undefined) return showContext(dialectic, wanted, options);
        const shown = await findShown(dialectic, wanted, options);
        const { session, document } = shown;
        if (document === undefined) return showSession(dialectic, session, options);
        const page = await readShown(dialectic, shown);
        printResult(options.json === true, { session: session.id, ...page }, [page.text.trimEnd()]);
      }),
    );
}

/** The session is the argument, or else the one that -s names or the newest. */
async function showContext(
  dialectic: Dialectic,
  wanted: string | undefined,
  { context, session: named, json = false }: Options,
): Promise<void> {
  const session = await findSession(dialectic, wanted ?? named);
  const plans = await dialectic.context(session.id, context === true ? undefined : context);
  printResult(json, { session: session.id, jobs: plans }, describeContexts(plans));
}

type Shown = {
  readonly session: SessionInfo;
  readonly document?: string;
  /** Whether the word could be the end of an id, of a session as well, though none has it. */
  readonly isId?: boolean;
};

/** Long enough that hardly a word is meant. */
const ID_FORM = /^[0-9a-f-]{6,36}$/i;

/** What a person means: a session, or else a document of the one that -s names or of the newest. */
export async function findShown(
  dialectic: Dialectic,
  wanted: string | undefined,
  { session: named }: Options,
): Promise<Shown> {
  if (wanted === undefined || named !== undefined) {
    const session = await findSession(dialectic, named);
    return wanted === undefined ? { session } : { session, document: wanted };
  }
  try {
    return { session: await dialectic.find(wanted) };
  } catch (thrown) {
    if (toDialecticError(thrown).code !== 'not_found') throw thrown;
    const isId = ID_FORM.test(wanted);
    return { session: await findSession(dialectic, undefined), document: wanted, isId };
  }
}

/** The page that is meant, the first one where none is named. */
export async function readShown(
  dialectic: Dialectic,
  { session, document, isId = false }: Shown,
): Promise<Page> {
  try {
    return await dialectic.page(session.id, document);
  } catch (cause) {
    if (!isId || toDialecticError(cause).code !== 'not_found') throw cause;
    // The documents of a session that nobody named would only lead astray.
    const message = `There is no session ${document}, and no document ${document} in the newest session, ${shortId(session.id)}.`;
    const action = '`dialectic list` lists the sessions; -s ID names the session of a document.';
    throw new DialecticError('not_found', message, { cause, action });
  }
}

async function showSession(
  dialectic: Dialectic,
  info: SessionInfo,
  { json = false, all = false }: Options,
): Promise<void> {
  const { id } = info;
  const result = await dialectic.result(id);
  const notices = await dialectic.notices();
  const own = notices.filter((notice) => notice.topic === `session/${id}`);
  if (json) return printResult(true, { ...result, notices: own }, []);
  const { budgets } = await dialectic.wallet.balance();
  const cap = budgets.find(({ ownerId, currency }) => ownerId === id && currency === 'USD');
  const shown = {
    info,
    view: await dialectic.session(id),
    result,
    costs: await dialectic.costs(id),
    budgetUsd: cap ? cap.amount / 1e6 : null,
    now: now(),
  };
  printRows(false, null, [
    ...describeSession(shown, all),
    ...(result.chosen ? [result.chosen.text] : []),
    ...(all && result.vote && result.chosen ? describeVote(result.vote) : []),
    ...describeDegraded(result),
    ...own.map((notice) => `! ${notice.message}`),
    ...mentionNotices(notices),
    ...adviseReading(result),
    ...describeNext(result),
  ]);
}

/** The command that prints a document, by the example of the last one, of the chosen lane if any. */
function adviseReading({ session, documents, chosen }: RunResult): string[] {
  const readable = documents.filter(({ path }) => path !== null);
  const last = readable.findLast(({ lane }) => lane === chosen?.lane) ?? readable.at(-1);
  return last
    ? [
        `Read a document with: dialectic show ${quoteWord(last.key)}@${quoteWord(String(last.lane))} -s ${quoteWord(shortId(session))}`,
      ]
    : [];
}
