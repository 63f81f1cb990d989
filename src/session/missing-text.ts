import type { NewNotice } from '../db/notices.ts';
import type { Loss } from '../planning/types.ts';
import { describeDocument } from '../recipe/contract.ts';
import { countNoun } from '../text/count-noun.ts';
import { safeInline } from '../text/markdown-text.ts';
import type { SessionView } from './read.ts';

type Names = Pick<SessionView, 'process' | 'lanes'>;

/** One sentence for each lane of a stage that owes something, with the reason. */
export function describeMissing(session: Names, losses: readonly Loss[]): string[] {
  const groups = Map.groupBy(losses, ({ iteration, stage, lane, error }) =>
    JSON.stringify([iteration, stage, lane, error]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { stage, lane, error } = first;
    const titles = countEach(group.map((loss) => titleOf(session, loss)));
    const model = session.lanes.find((one) => one.ordinal === lane)?.model;
    const owner = lane === null ? '' : `, lane ${lane}${model ? ` (${model})` : ''}`;
    const name = session.process.stages.find(({ key }) => key === stage)?.name ?? stage;
    const reason = error ? `: ${oneLine(error.message)} (${error.code})` : ': its branch has a gap';
    return `${name}${owner}: ${titles.join(', ')} not written${reason}`;
  });
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Several of one kind, of a fan-out, as `3 × Risk register`. */
function countEach(titles: readonly string[]): string[] {
  const groups = Map.groupBy(titles, (title) => title);
  return [...groups].map(([title, all]) => (all.length > 1 ? `${all.length} × ${title}` : title));
}

/** What a document is called where people read; its key where the recipe has changed since. */
export function titleOf({ process }: Pick<Names, 'process'>, loss: Loss): string {
  const stage = process.stages.find(({ key }) => key === loss.stage);
  const step = stage?.steps.find(({ key }) => key === loss.step);
  return stage && step ? describeDocument(stage, step).title : loss.document;
}

/** The part of the readme that says what the run went on without; empty where nothing is missing. */
export function missingSection(session: Names, losses: readonly Loss[]): string[] {
  if (losses.length === 0) return [];
  const lines = describeMissing(session, losses).map((line) => `- ${safeInline(line)}`);
  const claim = '**This run is degraded: it went on without the documents named here.**';
  return ['## What is missing', '', claim, '', ...lines, ''];
}

/** Tells the user that a stage was closed without some of its documents. */
export function degradedNotice(
  session: Pick<SessionView, 'id' | 'process' | 'lanes'>,
  stage: string,
  losses: readonly Loss[],
): NewNotice {
  const count = countNoun(losses.length, 'document');
  return {
    severity: 'warning',
    code: 'run_degraded',
    message: `The run goes on without ${count}. ${describeMissing(session, losses).join('. ')}`,
    topic: `session/${session.id}`,
    details: { stage, missing: losses },
  };
}
