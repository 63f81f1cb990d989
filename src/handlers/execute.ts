import type { JobContext } from '../jobs/context.ts';
import { countAhead } from '../models/tokens.ts';
import { timed } from '../platform/trace.ts';
import { adapter } from '../sources/adapt-settings.ts';
import { arrangeRerun, canDoWithout } from './arrange-rerun.ts';
import { limitRequests } from './ask-for-sources.ts';
import { type Assembled, assemble } from './assemble.ts';
import { attendSources } from './attend-sources.ts';
import { type Answered, call } from './call.ts';
import { chargeUnsaved } from './charge-unsaved.ts';
import { compute } from './compute.ts';
import { departuresOf } from './departures.ts';
import { FundsRefused } from './embedding-call.ts';
import { fit } from './fit.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { type Judged, judge, judgeWithout } from './judge.ts';
import { load } from './load.ts';
import { pauseForFunds } from './pause-for-funds.ts';
import { recover } from './recover.ts';
import { rehearseMeanwhile } from './rehearse.ts';
import { type Reserved, reserve } from './reserve.ts';
import { save, saveKept } from './save.ts';

/**
 * The EXECUTE job: one call to a model, from its inputs to a saved chunk, document or next link of
 * its chain. Each step adds to what the step before it returned: Loaded, Assembled, Fitted, Reserved,
 * Answered, Judged.
 */
export async function execute(deps: HandlerDeps, context: JobContext): Promise<void> {
  const leave = departuresOf(deps.database).expect();
  try {
    await prepareAndAsk(deps, context, leave);
  } finally {
    leave();
  }
}

/** `leave` is called when the request has left, or when there will be none. */
async function prepareAndAsk(
  deps: HandlerDeps,
  context: JobContext,
  leave: () => void,
): Promise<void> {
  const { database } = deps;
  const { job } = context;
  const step = <T>(name: string, work: () => T | Promise<T>): Promise<T> =>
    timed(deps.trace, name, job.id, work);
  const loaded = await step('load', () => load(database, job));
  // Some documents are made by code from their inputs, without a call.
  const { compute: computation } = loaded.step;
  if (computation !== null) {
    leave();
    await departuresOf(database).untilGone();
    return pausing(context, () =>
      step('compute', () => compute(deps, context, loaded, computation)),
    );
  }
  const attended = await step('attend', () => attendSources(deps, context, loaded));
  const assembled = await step('assemble', () => assemble(attended));
  const recovered = await recover(database, job, assembled);
  const answered = recovered ?? (await ask(deps, context, assembled, leave));
  if (answered === null) return;
  let isSaved = false;
  try {
    await chargeUnsaved(database, job, answered, async () => {
      const judged = await step('judge', () => judgeAndArrange(deps, job, answered));
      const saved = step('save', () => save(database, context, judged));
      // While the store saves it: the next request that shows the text waits for both.
      void countAhead(shownLater(judged));
      await saved;
    });
    isSaved = true;
  } finally {
    await answered.checkpoint?.end(isSaved);
  }
}

/** Searches cost money, too; the session is paused where it is refused. */
async function pausing(context: JobContext, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof FundsRefused)) throw error;
    await pauseForFunds(context, error.held);
  }
}

/** What an answer means, as far as the run may ask again for what is wrong with it. */
const judgeAndArrange = async (
  deps: HandlerDeps,
  job: JobContext['job'],
  answered: Answered,
): Promise<Judged> => arrangeRerun(deps, job, await limitRequests(deps, job, judge(answered)));

/** What later requests show of an answer: its document, or what is gone on from or mended. */
function shownLater({ verdict, answer }: Judged): string {
  if (verdict.kind === 'document') return verdict.body ?? '';
  return verdict.kind === 'part' || verdict.kind === 'give-up' ? '' : answer.text;
}

/**
 * Sends the request. Null where there is nothing to judge: the session was paused for want of money,
 * and the job comes back when it goes on; or a participant that was asked in place of another cannot
 * answer, and the document stands as that one left it.
 */
async function ask(
  deps: HandlerDeps,
  context: JobContext,
  assembled: Assembled,
  leave: () => void,
): Promise<Answered | null> {
  try {
    const reserved = await fitAndReserve(deps, context, assembled);
    if (reserved === null) return null;
    const answering = timed(deps.trace, 'call', context.job.id, () =>
      call(deps, context, reserved),
    );
    leave();
    void rehearseMeanwhile(assembled.session.process, answering);
    return await answering;
  } catch (error) {
    const kept = canDoWithout(assembled, error) ? judgeWithout(assembled) : null;
    if (kept === null) throw error;
    await saveKept(context, kept);
    return null;
  }
}

/** Null where the session was paused for want of money, be it for embedding or for the call. */
async function fitAndReserve(
  deps: HandlerDeps,
  context: JobContext,
  assembled: Assembled,
): Promise<Reserved | null> {
  try {
    const { trace } = deps;
    const { id } = context.job;
    const fitted = await timed(trace, 'fit', id, () => fit(deps, context, assembled));
    if (assembled.sources.size > 0) adapter.notePrompt(fitted.shortened.length > 0);
    return await timed(trace, 'reserve', id, () => reserve(deps, context, fitted));
  } catch (error) {
    if (!(error instanceof FundsRefused)) throw error;
    await pauseForFunds(context, error.held);
    return null;
  }
}
