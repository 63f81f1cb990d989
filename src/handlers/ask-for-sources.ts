import type { Database } from '../db/database.ts';
import type { NewEvent } from '../db/events.ts';
import type { NewNotice } from '../db/notices.ts';
import type { Job } from '../jobs/types.ts';
import { nameOf } from '../session/name-document.ts';
import { laneOf } from '../session/read.ts';
import { onceFor } from '../text/memo.ts';
import { type Judged, judge } from './judge.ts';

/**
 * The share of a run's documents that may be asked for again only because they cite too few of the
 * given sources. A model that does not cite does so in every document: of 32 such documents all were
 * asked for twice, at $1.10 in a run that costs $0.71 without that.
 */
const UNCITED_SHARE = 1 / 10;

/** By session, the chains whose further request was granted in this process, saved or not yet. */
const granted = onceFor((_database: Database) => new Map<string, Set<string>>());
const MOST_SESSIONS = 1_000;

/**
 * Lets a document be asked for again only because it cites too little as long as its session has
 * asked for fewer than the share above, and for one in any case. After that such a document is kept
 * as it is, and marked. Several processes that work on one session may each grant a request more.
 */
export async function limitRequests(
  { database }: { readonly database: Database },
  job: Job,
  judged: Judged,
): Promise<Judged> {
  const { verdict } = judged;
  if (verdict.kind !== 'mend' || !verdict.isUncited) return judged;
  const { chains, documents } = await readAsked(database, job);
  // No other job of this process is between the next lines: nothing is awaited there.
  const asked = chainsOf(database, job.sessionId);
  const isFirst = asked.size === 0 && chains.length === 0;
  const all = new Set([...asked, ...chains]);
  const most = Math.max(1, Math.floor(documents * UNCITED_SHARE));
  if (!all.has(job.chainId) && all.size >= most) return judge(judged, { asksForSources: false });
  asked.add(job.chainId);
  return isFirst ? { ...judged, isFirstUncited: true } : judged;
}

function chainsOf(database: Database, sessionId: string): Set<string> {
  const sessions = granted(database);
  const known = sessions.get(sessionId);
  if (known) return known;
  if (sessions.size >= MOST_SESSIONS) sessions.clear();
  const chains = new Set<string>();
  sessions.set(sessionId, chains);
  return chains;
}

/** The chains that were asked for again for that, and how many documents were begun. */
const readAsked = (database: Database, { tenantId, sessionId }: Job) =>
  database.asTenant(tenantId, (tx) =>
    tx.queryOne<{ chains: string[]; documents: number }>(
      `select array(select distinct j.chain_id::text from jobs j
           where j.session_id = $1 and j.payload ? 'uncited') as chains,
         (select count(*)::int from model_calls
           where session_id = $1 and purpose = 'document') as documents`,
      [sessionId],
    ),
  );

/** What is told when the first document of a session is asked for again for that. */
export function tellUncited({ planned, session, model }: Judged): NewNotice {
  const { stage, documentKey: key, laneId, iteration } = planned;
  const { ordinal: lane } = laneOf(session, laneId);
  return {
    severity: 'info',
    code: 'sources_not_cited',
    topic: `session/${session.id}`,
    message:
      `${nameOf({ stage, key, lane })} cites too few of the given sources, and ${model} is asked for ` +
      'it again. At most a tenth of the documents are asked for again for that alone; the others ' +
      'are kept and marked. `dialectic wallet report` tells what it takes.',
    details: { stage, key, lane, iteration },
  };
}

/** The same as an event, for whoever follows the run. */
export function uncitedEvent({ id, chainId, stepKey, type }: Job, judged: Judged): NewEvent {
  const { planned, session, model } = judged;
  const { stage, iteration, laneId, documentKey } = planned;
  const { ordinal: lane } = laneOf(session, laneId);
  const place = { stage, iteration, laneId, lane, model, step: stepKey };
  return {
    topic: `session/${session.id}`,
    kind: 'sources-not-cited',
    payload: { ...place, jobId: id, chainId, type, documentKey },
  };
}
