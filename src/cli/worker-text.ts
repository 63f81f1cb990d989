import { join } from 'node:path';
import type { FolderNews } from '../api/folders-of-all.ts';
import type { WorkerEvent } from '../api/work-on-all.ts';
import { describeDocument } from '../recipe/contract.ts';
import { shortId } from '../session/name-document.ts';
import type { SessionView } from '../session/read.ts';

type EndedJob = Extract<WorkerEvent, { readonly kind: 'job-ended' }>;
type Session = Pick<SessionView, 'id' | 'process' | 'lanes'>;

/** A line about a job that ended; none for those that only plan and render, unless they fail. */
export function describeJob(job: EndedJob, session: Session): string[] {
  const { error, type, ms } = job;
  if (type !== 'EXECUTE' && error === null) return [];
  const seconds = `${(ms / 1_000).toFixed(1)} s`;
  const what = `${shortId(session.id)}  ${nameStep(job, session)}`;
  const end = error === null ? '' : `: ${error.message} (${error.code})`;
  return [`${error === null ? 'done' : 'fail'}  ${what} · ${seconds}${end}`];
}

/** The title of the document and who writes it, as far as the job belongs to one. */
function nameStep({ step, lane, type }: EndedJob, { process, lanes }: Session): string {
  const participant = lanes.find(({ id }) => id === lane);
  const who = participant ? ` by ${participant.ordinal} ${participant.model}` : '';
  for (const stage of process.stages) {
    const own = stage.steps.find(({ key }) => key === step);
    if (own) return `${stage.name}: ${describeDocument(stage, own).title}${who}`;
  }
  return `${type} job${who}`;
}

/** A line about the folder of a session. */
export function describeFolderNews(news: FolderNews): string {
  const session = shortId(news.session);
  if (news.kind === 'folder-not-written') return `note  ${session}  ${news.message}`;
  return `wrote ${session}  ${join(news.folder, 'project_readme.md')}`;
}
