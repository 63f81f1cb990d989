import type { Loss } from '../planning/types.ts';
import { describeDocument } from '../recipe/contract.ts';
import { stageOf } from '../recipe/edges.ts';
import { safeInline } from '../text/markdown-text.ts';
import { tellStyle } from '../text/measure-style.ts';
import { quoteWord } from '../text/quote-word.ts';
import { describeVote, tellChoice } from './choice-text.ts';
import { type Counts, tellCounts } from './counts.ts';
import type { ExportedDocument } from './export.ts';
import { titleOf } from './export-results.ts';
import type { DocumentRow } from './export-rows.ts';
import { type CitationReport, linkSources, unverifiedSection } from './export-sources.ts';
import { type FolderParts, firstPage } from './first-page.ts';
import { missingSection } from './missing-text.ts';
import { shortId } from './name-document.ts';
import type { Outcome } from './outcome.ts';
import type { Question } from './questions.ts';
import type { SessionLane, SessionView } from './read.ts';
import { describeQuestions } from './readme-questions.ts';
import { describeStanding } from './standing.ts';
import { viewVote } from './vote-view.ts';

/** What a session has made so far, and where the folder has it. */
type SessionMade = {
  readonly documents: readonly ExportedDocument[];
  readonly rows: readonly DocumentRow[];
  readonly questions: readonly Question[];
  readonly missing: readonly Loss[];
  readonly folder: FolderParts;
  readonly outcome: Outcome;
  readonly counts: Counts;
  readonly citations: CitationReport | null;
};

/**
 * The first page of the folder. Where the result stage has written one, code adds only what it
 * alone knows; until then the page says how far the run is and what to read first.
 */
export function writeReadme(
  session: SessionView,
  made: SessionMade,
  others: readonly SessionView[],
): string {
  const { folder, citations } = made;
  const page = firstPage(session, made.rows, { ...folder, sources: linkSources(citations) });
  const lines = page
    ? [
        ...missingSection(session, made.missing),
        ...unverifiedSection(citations),
        ...page.lines,
        ...openQuestions(session, made),
        ...origin(session, made),
      ]
    : writeStanding(session, made);
  const all = [...lines, ...listSessions(others)].join('\n').trimEnd();
  return `${[all, ...(page?.notes ? [page.notes.trimEnd()] : [])].join('\n\n')}\n`;
}

/** What the first page asks, by the numbers that `answer` takes; the rest is counted. */
function openQuestions(session: SessionView, { questions }: SessionMade): string[] {
  const open = questions.filter(({ answers }) => answers.length === 0);
  const page = session.process.firstPage;
  const own = open.filter(({ askedBy }) =>
    askedBy.some(({ stage, key }) => stage === page?.stage && key === page.documentKey),
  );
  const rest = open.length - own.length;
  const list = `\`dialectic questions ${quoteWord(shortId(session.id))}\``;
  const more = `${rest} more stand in the documents of the debate: ${list}.`;
  return [...describeQuestions(session, own), ...(rest > 0 ? [more, ''] : [])];
}

/** The page of a run without a page of its own, or with none yet: first what was decided. */
function writeStanding(session: SessionView, made: SessionMade): string[] {
  const { process } = session;
  const results = process.results.flatMap(({ stage, documentKey }) =>
    currentOf(session, made).filter(
      (document) =>
        document.stage === stage &&
        document.key === documentKey &&
        (session.chosenLaneId === null || document.lane.id === session.chosenLaneId),
    ),
  );
  return [
    ...openWithDecision(session, made),
    ...missingSection(session, made.missing),
    ...unverifiedSection(made.citations),
    ...howToGoOn(session, made),
    ...(results.length > 0
      ? ['## Read first', '', ...results.map((one) => link(session, one, '')), '']
      : []),
    ...listUnder('## Not agreed on', made.outcome.disagreements),
    ...describeQuestions(session, made.questions),
    '## In this folder',
    '',
    ...(made.folder.workItems > 0 ? ['- [Pending/](Pending/): the work items, a file each'] : []),
    ...linkSources(made.citations),
    `- [The whole debate](${encodeURI(made.folder.contents)}): every document so far`,
    '',
    ...origin(session, made),
  ];
}

/** What was decided, or that nothing is yet, and by which process. */
function openWithDecision(session: SessionView, { outcome }: SessionMade): string[] {
  const { process, status } = session;
  const standing = `The run is ${describeStanding(session)}`;
  if (outcome.decided.length === 0) {
    const none = `${standing}; nothing is decided yet.`;
    return [`# ${safeInline(process.name)}`, '', none, ''];
  }
  return [
    ...listUnder('# What was decided', outcome.decided),
    ...(status === 'completed' ? [] : [`${standing}; this may change.`, '']),
  ];
}

/** More than a reader takes in; the documents have them all. */
const MOST = 7;

function listUnder(heading: string, texts: readonly string[]): string[] {
  if (texts.length === 0) return [];
  const rest = texts.length - MOST;
  const more = rest > 0 ? [`- ${rest} more stand in the documents.`] : [];
  return [heading, '', ...texts.slice(0, MOST).map((text) => `- ${safeInline(text)}`), ...more, ''];
}

/** Who took part, whom the result follows, what it cost, and how the lanes voted. */
function origin(session: SessionView, { documents, counts }: SessionMade): string[] {
  const { lanes, chosenLaneId, chosenBy, iteration, id, process } = session;
  const vote = viewVote(session);
  const chosen = lanes.find((lane) => lane.id === chosenLaneId);
  const names = lanes.map(({ ordinal, model }) => `lane ${ordinal} \`${model}\``).join(', ');
  const choice = chosen &&
    chosenBy && { lane: chosen.ordinal, model: `\`${chosen.model}\``, by: chosenBy };
  return [
    '## How this came about',
    '',
    `${safeInline(process.name)}: ${process.description.trim()}`,
    '',
    `Session \`${id}\`, pass ${iteration}, ${describeStanding(session)}. Participants: ${names}. ` +
      `In all: ${tellCounts(counts, iteration)}.`,
    ...(lanes.some(({ model }) => model.startsWith('offline/'))
      ? ['', '**No language model wrote the documents of the offline participants.**']
      : []),
    ...(lanes.some(isReplayed) ? ['', tellReplay(session, documents)] : []),
    ...(choice ? ['', tellChoice(choice, vote, lanes.length)] : []),
    ...(documents.length > 0 ? ['', tellCost(session, documents)] : []),
    '',
    ...(vote ? ['## How the lanes voted', '', ...describeVote(vote), ''] : []),
  ];
}

const isReplayed = ({ model }: SessionLane): boolean => model.startsWith('recorded/');

/** That the answers are those of an earlier run, and what was not among them. */
function tellReplay({ lanes }: SessionView, documents: readonly ExportedDocument[]): string {
  const filled = documents.filter(({ isOffline, lane }) => isOffline && isReplayed(lane));
  const names = filled.map(({ stage, key, lane }) => `${stage}/${key}@${lane.ordinal}`);
  const told =
    '**The answers are recorded:** models gave them in an earlier run, and this run replayed them.';
  const rest = `The offline author, which is no language model, wrote what was not recorded: ${names.join(', ')}.`;
  const others = lanes.every(isReplayed) ? '' : ' Participants without `recorded/` wrote anew.';
  return `${told}${others}${names.length > 0 ? ` ${rest}` : ''}`;
}

const add = (costs: readonly (number | null)[]): string =>
  `$${costs.reduce<number>((total, cost) => total + (cost ?? 0), 0).toFixed(4)}`;

function tellCost({ lanes }: SessionView, documents: readonly ExportedDocument[]): string {
  const costs = documents.map(({ costUsd }) => costUsd);
  const now = `The documents cost ${add(costs)} to write`;
  const unknown = costs.includes(null) ? ', without those of unknown price' : '';
  const isKnown = costs.some((cost) => cost !== null && cost > 0) || unknown === '';
  if (!lanes.some(isReplayed)) {
    return isKnown ? `${now}${unknown}.` : 'What the documents cost to write is unknown.';
  }
  return `${tellRecordedCost(documents)} The replay cost ${add(costs)}${unknown}.`;
}

function tellRecordedCost(documents: readonly ExportedDocument[]): string {
  const costs = documents.map(({ recordedCostUsd }) => recordedCostUsd);
  const isUnknown = documents.some(({ lacksRecordedCost }) => lacksRecordedCost);
  if (isUnknown && costs.every((cost) => cost === null)) {
    return 'What the documents cost to write when they were recorded is unknown.';
  }
  const rest = isUnknown ? ', without those of unknown price' : '';
  return `The documents cost ${add(costs)} to write when they were recorded, at the prices of that time${rest}.`;
}

/** The list of everything that the pass has made, stage by stage. */
export function writeContents(session: SessionView, made: SessionMade): string {
  const lines = [`# The debate behind the result`, '', ...origin(session, made)];
  for (const stage of session.process.stages) {
    const own = currentOf(session, made).filter((document) => document.stage === stage.key);
    const folder = `session_${session.id.slice(-12)}/`;
    const links = own.map(
      (document) => link(session, document, folder) + countWords(session, made, document),
    );
    if (own.length > 0)
      lines.push(`## ${safeInline(stage.name)}`, '', stage.description, '', ...links, '');
  }
  lines.push(...describeQuestions(session, made.questions));
  return `${lines.join('\n').trimEnd()}\n`;
}

const currentOf = ({ iteration }: SessionView, { documents }: SessionMade): ExportedDocument[] =>
  documents.filter((document) => document.iteration === iteration && document.path !== null);

/** A run that stopped where it was asked to, or whose chosen lane owes its result, is not over. */
function howToGoOn(session: SessionView, { rows }: SessionMade): string[] {
  const { id, status, awaiting, untilStage, process, lanes, chosenLaneId, iteration } = session;
  if (status === 'completed') {
    const owed = process.stages.find((stage) => {
      const own = rows.filter((row) => row.stage_key === stage.key && row.iteration === iteration);
      const writers = own.filter(({ kind }) => kind !== 'seed_prompt').map((row) => row.lane_id);
      const isAnothers = writers.length > 0 && writers.every((laneId) => laneId !== chosenLaneId);
      return stage.lanes === 'chosen' && isAnothers;
    });
    const ordinal = lanes.find((lane) => lane.id === chosenLaneId)?.ordinal;
    const command = `\`dialectic resume ${quoteWord(id)}\` lets lane ${ordinal} write its own`;
    return owed ? [`Another lane wrote the stage ${owed.key}; ${command}.`, ''] : [];
  }
  if (status === 'failed') {
    const why = '`dialectic notices` says why';
    return [`The run failed; ${why}, \`dialectic resume ${quoteWord(id)}\` tries again.`, ''];
  }
  if (awaiting !== 'until') return [];
  const keys = process.stages.map((stage) => stage.key);
  const rest = keys.slice(keys.indexOf(untilStage ?? '') + 1).join(', ');
  return [
    `The run was asked to stop here; \`dialectic resume ${quoteWord(id)}\` goes on with ${rest}.`,
    '',
  ];
}

/** The other sessions of the project, by their folders; empty where there is none. */
function listSessions(others: readonly SessionView[]): string[] {
  if (others.length === 0) return [];
  const lines = others.map((session) => {
    const models = session.lanes.map(({ model }) => model).join(', ');
    const folder = `session_${session.id.slice(-12)}/`;
    return `- \`${folder}\`: ${session.process.name}, ${describeStanding(session)}, ${models}`;
  });
  return ['## Other sessions of this project', '', ...lines];
}

/** A link from the page that lies in `folder`, a part of the path, or at the root. */
function link(session: SessionView, document: ExportedDocument, folder: string): string {
  const { stage, key: documentKey, path, lane } = document;
  const title = safeInline(titleOf(session, { stage, documentKey }));
  return `- [${title}](${encodeURI((path ?? '').slice(folder.length))}) · lane ${lane.ordinal}`;
}

/** How long a document became beside what was asked for. */
function countWords(
  { process }: SessionView,
  { rows }: SessionMade,
  { id, stage: stageKey, key, style }: ExportedDocument,
): string {
  const stage = stageOf(process, stageKey);
  const step = stage.steps.find(({ output }) => output.documentKey === key);
  const asked = step ? describeDocument(stage, step).words : 0;
  const row = rows.find((one) => one.id === id);
  const written = row ? wordsOf(row) : 0;
  const words = asked > 0 ? `${written} words, ${asked} asked` : `${written} words`;
  return ` · ${words}${style ? ` · ${tellStyle(style)}` : ''}`;
}

/** The words of pages by their hashes: every export of a run lists the documents of all before. */
const counted = new Map<string, number>();
const MOST_COUNTED = 10_000;

function wordsOf({ markdown, markdown_hash: hash }: DocumentRow): number {
  if (markdown === null || hash === null) return 0;
  const known = counted.get(hash);
  if (known !== undefined) return known;
  const words = markdown.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (counted.size >= MOST_COUNTED) counted.clear();
  counted.set(hash, words);
  return words;
}
