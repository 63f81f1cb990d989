import { dismissAllNotices, dismissNotice, findNotice, openNotices } from '../db/notices.ts';
import type { Transaction } from '../db/transaction.ts';
import type { Estimate } from '../estimate/types.ts';
import { readWaits } from '../jobs/waits.ts';
import type { ModelCheck } from '../models/preflight.ts';
import { VERSION } from '../platform/version.ts';
import { toDocumentId } from '../session/document-of-path.ts';
import { readSessionEvents } from '../session/events.ts';
import { exportSession } from '../session/export.ts';
import { addFeedback } from '../session/feedback.ts';
import { findPage, type Page } from '../session/find-page.ts';
import { listSessions, pickSession } from '../session/list-sessions.ts';
import { type ProjectInfo, readProject, setArchived } from '../session/project-info.ts';
import { answerQuestion, type Question, readQuestions } from '../session/questions.ts';
import { readSession, requireSessionId, type SessionView } from '../session/read.ts';
import { type ReadDocument, readDocument } from '../session/read-document.ts';
import { cancelRun, pauseRun } from '../session/stop.ts';
import type { RunResult } from '../session/summary.ts';
import { type ExportOptions, writeFolder } from '../session/write-folder.ts';
import type { Metrics } from '../sources/metrics.ts';
import { settleLeftHolds } from '../wallet/holds.ts';
import { markLeft, reportCosts } from '../wallet/report.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';
import type {
  CostReport,
  EventPage,
  GivenAnswer,
  GivenFeedback,
  NewAnswer,
  NewFeedback,
  Notice,
  SessionInfo,
  Wait,
} from './data.ts';
import type { EvaluationEvent, EvaluationOptions } from './evaluate.ts';
import { followRun, type RunEvent, type WatchOptions } from './follow-run.ts';
import { listConfigured, type ModelList } from './list-models.ts';
import { type Plain, toPlain } from './plain.ts';
import type { PreflightOptions } from './preflight.ts';
import type { ReplayOptions, StartedReplay, WorkOnReplayOptions } from './replay-run.ts';
import {
  type DeletedProject,
  deleteProject,
  type ExpireOptions,
  type Expiry,
  expireProjects,
} from './retention.ts';
import type { RunOptions } from './run-options.ts';
import type { JobContext } from './show-context.ts';
import { Sources } from './sources.ts';
import type { StartedRun } from './start-run.ts';
import * as steer from './steer-run.ts';
import type { OpenedStore, Store } from './store.ts';
import { readMetrics } from './store-metrics.ts';
import { Wallet } from './wallet.ts';
import type { WorkerEvent, WorkOnAllOptions } from './work-on-all.ts';
import type { WorkEvent, WorkOptions } from './work-on-run.ts';

/**
 * An open store and everything that can be done with its runs, whichever process holds it. Methods
 * take and return plain data, so that a transport can carry them (methods.ts lists them for it); what
 * is refused throws a DialecticError with a stable code.
 */
export type Dialectic = Omit<Pick<LocalDialectic, keyof LocalDialectic>, 'sources' | 'wallet'> & {
  readonly sources: Pick<Sources, keyof Sources>;
  readonly wallet: Pick<Wallet, keyof Wallet>;
};

/**
 * The store in this process. What works on runs is loaded when it is first called: it is most of the
 * program, and most commands only read.
 */
export class LocalDialectic {
  readonly sources: Sources;
  readonly wallet: Wallet;
  readonly #store: Store;
  readonly #closing = new AbortController();
  readonly #untilQuiet: () => Promise<void>;

  /** `untilQuiet` ends what other processes do with the store; the database is closed after it. */
  constructor(store: OpenedStore, untilQuiet = async (): Promise<void> => {}) {
    this.#store = { ...store, closing: this.#closing.signal };
    this.#untilQuiet = untilQuiet;
    this.sources = new Sources(this.#store);
    this.wallet = new Wallet(this.#store);
  }

  /** Tells what a run would take: calls, tokens, money. Nothing is saved. */
  async estimate(run: RunOptions): Promise<Estimate> {
    const { estimateRun } = await import('./start-run.ts');
    return estimateRun(this.#store, run);
  }

  /**
   * Asks each model once, at next to no cost, whether a run can use it; throws for those that a run
   * could not reach, with their addresses and the reasons. What it cost is on the ledger.
   */
  async preflight(
    models: readonly string[],
    options?: PreflightOptions,
  ): Promise<readonly ModelCheck[]> {
    const { preflight } = await import('./preflight.ts');
    return preflight(this.#store, models, options);
  }

  /** Saves a run, ready to be worked on. */
  async start(run: RunOptions): Promise<StartedRun> {
    const { startRun } = await import('./start-run.ts');
    return startRun(this.#store, run);
  }

  /** Works on a session in this process, and yields what happens until it rests. */
  async *work(session: string, options: WorkOptions = {}): AsyncGenerator<WorkEvent, void, void> {
    const { workOnRun } = await import('./work-on-run.ts');
    yield* workOnRun(this.#store, session, options);
  }

  /** Saves an exported run as a new session, whose participants give the answers of then. */
  async startReplay(replay: ReplayOptions): Promise<StartedReplay> {
    const { startReplay } = await import('./replay-run.ts');
    return startReplay(this.#store, replay);
  }

  /** Works on a replay in this process, as `work` does, to where the recorded run ended. */
  async *workOnReplay(
    session: string,
    options: WorkOnReplayOptions,
  ): AsyncGenerator<WorkEvent, void, void> {
    const { workOnReplay } = await import('./replay-run.ts');
    yield* workOnReplay(this.#store, session, options);
  }

  /** Yields the events of a session, from any worker, until it rests. */
  watch(session: string, options: WatchOptions = {}): AsyncGenerator<RunEvent, void, void> {
    return followRun(this.#store, session, options);
  }

  /** What runs can be made with, as the providers say now. */
  models(): Promise<ModelList> {
    return listConfigured(this.#store.models);
  }

  /** Has debates judged blind against what one model writes, and yields what happens. */
  async *evaluate(options: EvaluationOptions): AsyncGenerator<EvaluationEvent, void, void> {
    const { evaluate } = await import('./evaluate.ts');
    yield* evaluate(this.#store, options, (session) => this.result(session));
  }

  /** A page of the events after a cursor, for callers that come back for more. */
  events(
    session: string,
    { after = null, limit }: { after?: string | null; limit?: number } = {},
  ): Promise<EventPage> {
    const { database, tenantId } = this.#store;
    const place = { tenantId, sessionId: session, after };
    return readSessionEvents(database, limit === undefined ? place : { ...place, limit });
  }

  /** Works on every session of the store, those of other processes included, until the signal. */
  async *workOnAll(options: WorkOnAllOptions): AsyncGenerator<WorkerEvent, void, void> {
    const { workOnAll } = await import('./work-on-all.ts');
    yield* workOnAll(this.#store, options);
  }

  /**
   * The sessions, newest first; those of a clock that was ahead come last. Those of archived projects
   * are left out unless `all` is set.
   */
  async list({ all = false }: { all?: boolean } = {}): Promise<readonly SessionInfo[]> {
    return toPlain(await listSessions(this.#store.database, this.#store.tenantId, all));
  }

  /** A session by its id or the end of it; the newest of those not archived where none is named. */
  async find(wanted?: string): Promise<SessionInfo> {
    return pickSession(await this.list({ all: wanted !== undefined }), wanted);
  }

  /** A session with its recipe and participants. */
  session(session: string): Promise<SessionView> {
    return this.#read((tx) => readSession(tx, session));
  }

  /** Where a session stands: its documents, choice, votes, usage and what went wrong. */
  result(session: string): Promise<RunResult> {
    return this.export(session, undefined);
  }

  /** A document with its text; its id is in the result. */
  document(session: string, id: string): Promise<Plain<ReadDocument>> {
    return this.#read(async (tx) =>
      toPlain(await readDocument(tx, await readSession(tx, session), id)),
    );
  }

  /** The files of the folder by their paths. */
  files(session: string): Promise<Readonly<Record<string, string>>> {
    return this.#read(async (tx) => {
      const { files } = await exportSession(tx, await readSession(tx, session));
      return Object.fromEntries(files);
    });
  }

  /** A file of the folder by its path, or by its document's id, key or title; else the first page. */
  page(session: string, wanted?: string): Promise<Page> {
    return this.#read(async (tx) => {
      const view = await readSession(tx, session);
      return findPage(view, await exportSession(tx, view), wanted);
    });
  }

  /**
   * Brings the folder that a session remembers up to date; a folder that is named becomes the
   * session's. What keeps it from being written stands in the result.
   */
  updateFolder(session: string, folder?: string): Promise<RunResult> {
    return steer.update(this.#store, session, folder);
  }

  /** Writes a folder beside the one that the session keeps; with none it only returns the result. */
  export(session: string, folder: string | undefined, options?: ExportOptions): Promise<RunResult> {
    const { database, tenantId } = this.#store;
    return writeFolder(database, tenantId, session, folder, options);
  }

  /**
   * What the requests of jobs are made of, and what would be shortened for them to fit: of the job
   * that is named by its document or the end of its id, else of all that have not ended.
   */
  async context(session: string, job?: string): Promise<readonly JobContext[]> {
    const { showContext } = await import('./show-context.ts');
    return showContext(this.#store, session, job);
  }

  /** What a session cost, call by call, from the ledger. */
  async costs(session: string): Promise<CostReport> {
    requireSessionId(session);
    const report = await this.#read(async (tx) => {
      await settleLeftHolds(tx);
      return reportCosts(tx, session);
    });
    return toPlain(await markLeft(this.#store.database, report));
  }

  /** Jobs that wait for a date, with the fault that they wait for. */
  async waits(session: string): Promise<readonly Wait[]> {
    requireSessionId(session);
    return toPlain(await this.#read((tx) => readWaits(tx, session)));
  }

  /** What went wrong or waits for a person, until it is dismissed; oldest first. */
  async notices(): Promise<readonly Notice[]> {
    return toPlain(await this.#read((tx) => openNotices(tx)));
  }

  /** Puts notices away, by ids or the ends of them; returns the ids. */
  dismissNotices(wanted: readonly string[] | 'all'): Promise<readonly string[]> {
    return this.#read(async (tx) => {
      if (wanted === 'all') return dismissAllNotices(tx);
      const open = await openNotices(tx);
      const found = [...new Set(wanted.map((id) => findNotice(open, id).id))];
      for (const id of found) await dismissNotice(tx, id);
      return found;
    });
  }

  /** The questions that the documents leave to people, answered ones included. */
  questions(session: string): Promise<readonly Question[]> {
    return this.#read(async (tx) => readQuestions(tx, await readSession(tx, session)));
  }

  /** Answers a question for every stage that asks it. */
  async answer(session: string, { question, text, stage = null }: NewAnswer): Promise<GivenAnswer> {
    const answered = await this.#read((tx) =>
      answerQuestion(tx, session, { question, text, stageKey: stage }),
    );
    return {
      session,
      question: answered.question.id,
      text: answered.question.question,
      given: answered.given.map(({ id, readBy }) => ({ feedback: id, readBy })),
    };
  }

  /** Says something about a stage or a document; the next stage or pass reads it. */
  async feedback(session: string, feedback: NewFeedback): Promise<GivenFeedback> {
    const { stage: stageKey, text, document: named = null } = feedback;
    const { id, readBy } = await this.#read(async (tx) => {
      const document = named === null ? null : await toDocumentId(tx, session, named);
      return addFeedback(tx, session, { stageKey, text, document });
    });
    return { session, feedback: id, readBy };
  }

  /** Makes the results follow a participant, by its number or model. */
  choose(session: string, participant: number | string): Promise<steer.Choice> {
    return steer.choose(this.#store, session, participant);
  }

  /** Sets what a session may spend in all; caps that are not named stay. */
  setBudget(session: string, budget: RunBudget): Promise<void> {
    return steer.setRunBudget(this.#store, session, budget);
  }

  /** Lets calls in flight finish and starts nothing new. */
  async pause(session: string): Promise<SessionInfo> {
    await this.#store.database.asTenant(this.#store.tenantId, (tx) => pauseRun(tx, session));
    return this.find(session);
  }

  /** Ends a session for good and aborts its calls; what was written is kept. */
  async cancel(session: string): Promise<SessionInfo> {
    await this.#store.database.asTenant(this.#store.tenantId, (tx) => cancelRun(tx, session));
    return this.find(session);
  }

  /** Lets a session that was stopped, failed or paused go on; nothing that succeeded is repeated. */
  async resume(session: string, options: steer.ResumeOptions = {}): Promise<SessionInfo> {
    await steer.resume(this.#store, session, options);
    return this.find(session);
  }

  /** Lets the next stage begin after a person has looked at the last one. */
  async approve(session: string, options: steer.GoOnOptions = {}): Promise<SessionInfo> {
    await steer.approve(this.#store, session, options);
    return this.find(session);
  }

  /** Begins another pass over a finished session, which reads the first. */
  async iterate(session: string, options: steer.GoOnOptions = {}): Promise<SessionInfo> {
    await steer.iterate(this.#store, session, options);
    return this.find(session);
  }

  /** A project by its name or id, with how much it holds. */
  async project(wanted: string): Promise<Plain<ProjectInfo>> {
    return toPlain(await this.#read((tx) => readProject(tx, wanted)));
  }

  /**
   * Erases a project for good, with the documents, texts and events of its sessions; the ledger keeps
   * what it cost. Refused while one of its sessions runs.
   */
  deleteProject(wanted: string): Promise<DeletedProject> {
    return deleteProject(this.#store, wanted);
  }

  /** Deletes the projects that were not used for a number of days; those with a running session stay. */
  expireProjects(options: ExpireOptions = {}): Promise<Expiry> {
    return expireProjects(this.#store, options);
  }

  /** Hides a project from lists. */
  async archiveProject(wanted: string): Promise<Plain<ProjectInfo>> {
    return toPlain(await this.#read((tx) => setArchived(tx, wanted, true)));
  }

  /** Shows an archived project in lists again. */
  async unarchiveProject(wanted: string): Promise<Plain<ProjectInfo>> {
    return toPlain(await this.#read((tx) => setArchived(tx, wanted, false)));
  }

  /** How the work with sources goes: latencies, hit rates, and the settings that follow from them. */
  metrics(): Promise<Metrics> {
    return readMetrics(this.#store);
  }

  /** The process in which the store is open: this one, or the one that holds the data directory. */
  async holder(): Promise<{ readonly pid: number; readonly version: string }> {
    return { pid: process.pid, version: VERSION };
  }

  /**
   * Closes the store. Calls under way finish and are saved; whoever followed a run in this process
   * gets `storage_closed`, and in another one opens the store and goes on.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.#untilQuiet();
    } finally {
      await this.#store.database.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #read<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#store.database.asTenant(this.#store.tenantId, work);
  }
}
