import { describeOutage } from '../../models/circuit-breaker.ts';
import { parseModelId } from '../../models/model-id.ts';
import type { SessionEvent } from '../../session/event-types.ts';
import { describeError, describeRetry } from './draw-run.ts';
import { type Line, styled } from './paint.ts';
import { findAuthor, nameWork, type ShownSession } from './run-view.ts';

/** Faults that only follow from another one, which is told. */
const CONSEQUENCES: ReadonlySet<string | null> = new Set([
  'child_failed',
  'quorum_missed',
  'parent_ended',
  'prerequisite_failed',
]);

/**
 * Providers that were told to keep failing, or to answer again, by what is said of them while they do
 * not: each job that waits for one tries again and again, and would say so every time.
 */
export type Outages = Map<string, 'away' | 'back'>;

/**
 * Lines that stay above the screen: documents that are finished, retries and failures. `outages` goes
 * from one call to the next.
 */
export function tellNews(
  session: Pick<ShownSession, 'process' | 'lanes'>,
  events: readonly SessionEvent[],
  now: Date,
  outages: Outages,
): Line[] {
  return events.flatMap((event) => {
    switch (event.kind) {
      case 'document-rendered':
        return tellDocument(session, event);
      case 'job-retried': {
        const author = findAuthor(session, event);
        if (!author) return [];
        if (event.error?.code === 'provider_circuit_open') return tellOutage(event.error, outages);
        return [[styled('yellow', `↻ ${describeRetry({ ...author, ...event }, now)}`)]];
      }
      case 'sources-not-cited': {
        const author = findAuthor(session, event);
        if (!author) return [];
        const { participant, title } = author;
        const said = 'cites too few of the given sources: asked again';
        const limit = '(at most a tenth of the documents are; the others are marked)';
        return [[styled('yellow', `↻ ${participant}, ${title} ${said} ${limit}`)]];
      }
      case 'call-ended':
        return tellReturn(event, outages);
      case 'job-failed': {
        const author = findAuthor(session, event);
        if (!author || CONSEQUENCES.has(event.error?.code ?? null)) return [];
        const { participant, title } = author;
        return [[styled('red', `✗ ${participant}, ${title}: ${describeError(event.error)}`)]];
      }
      default:
        return [];
    }
  });
}

type Told<Kind extends SessionEvent['kind']> = Extract<SessionEvent, { kind: Kind }>;

/** A refusal may be saved after the answer that ended the outage, and tells nothing new then. */
function tellOutage(error: NonNullable<Told<'job-retried'>['error']>, outages: Outages): Line[] {
  const outage = error.message ?? '';
  if (outages.has(outage)) return [];
  outages.set(outage, 'away');
  return [[styled('yellow', `↻ ${describeError(error)}`)]];
}

/** A provider that was told to keep failing has answered; only calls that fail begin an outage anew. */
function tellReturn({ model, outcome }: Told<'call-ended'>, outages: Outages): Line[] {
  if (model === null || outcome === 'cut') return [];
  const { provider } = parseModelId(model);
  const outage = describeOutage(provider);
  const told = outages.get(outage);
  if (outcome === 'failed' && told === 'back') outages.delete(outage);
  if (outcome === 'failed' || told !== 'away') return [];
  outages.set(outage, 'back');
  return [[styled('green', '✓'), ` ${provider} answers again.`]];
}

/** What it is and where the folder has it; the path names the author, and the version. */
function tellDocument(
  { process, lanes }: Pick<ShownSession, 'process' | 'lanes'>,
  event: Extract<SessionEvent, { documentKind: string }>,
): Line[] {
  const stage = process.stages.find(({ key }) => key === event.stage);
  const step = stage?.steps.find(({ key }) => key === event.step);
  const lane = lanes.find(({ ordinal }) => ordinal === event.lane);
  if (event.documentKind !== 'document' || !stage || !step || !lane) return [];
  const where = event.path === null ? [] : [' · ', { ...styled('dim', event.path), isPath: true }];
  return [[styled('green', '✓'), ` ${nameWork(stage, step)}`, ...where]];
}
