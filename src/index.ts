/** The public API: open a store, then start, watch, steer and read the runs in it. */
export type {
  CostReport,
  EventPage,
  GivenAnswer,
  GivenFeedback,
  NewAnswer,
  NewFeedback,
  Notice,
  SessionInfo,
  Wait,
} from './api/data.ts';
export type { Dialectic } from './api/dialectic.ts';
export type { EvaluatedBrief, EvaluationEvent, EvaluationOptions } from './api/evaluate.ts';
export { examineModels } from './api/examine-models.ts';
export { examineStore, restoreBackup } from './api/examine-store.ts';
export type { RunEvent, WatchOptions } from './api/follow-run.ts';
export { listModels, type ModelList } from './api/list-models.ts';
export {
  type Configuration,
  type DialecticOptions,
  openDialectic,
  type StoreOptions,
} from './api/open-dialectic.ts';
export type { PreflightOptions } from './api/preflight.ts';
export type { ReplayOptions, StartedReplay, WorkOnReplayOptions } from './api/replay-run.ts';
export type { DeletedProject, ExpireOptions, Expiry } from './api/retention.ts';
export type { RunOptions } from './api/run-options.ts';
export type { SourceFormat, Sources } from './api/sources.ts';
export type { StartedRun } from './api/start-run.ts';
export type { Choice, GoOnOptions, ResumeOptions } from './api/steer-run.ts';
export type { GrantOptions, RefundOptions, Wallet, WalletOptions } from './api/wallet.ts';
export type { WorkEvent, WorkOptions } from './api/work-on-run.ts';
export { DialecticError } from './errors/errors.ts';
export type { Estimate } from './estimate/types.ts';
export type { Evaluation } from './eval/evaluation.ts';
export {
  type CheckOptions,
  checkSource,
  checkSources,
  isCheckDue,
  type KnownSource,
  type SourceCheck,
} from './gather/check-source.ts';
export { type FolderSearchOptions, folderSearch } from './gather/folder-search.ts';
export { gatherBySearch } from './gather/gather-by-search.ts';
export { type GatherOptions, gatherSources } from './gather/gather-sources.ts';
export {
  type Archived,
  type Gathered,
  type GatheredSource,
  giveSource,
  type RefusedPlace,
} from './gather/gathered-source.ts';
export { openSearch } from './gather/open-search.ts';
export type { SearchHit, SearchOptions, SearchProvider } from './gather/search-provider.ts';
export {
  readSourcesSettings,
  type SourcesFile,
  type SourcesSettings,
} from './gather/sources-settings.ts';
export { type WebSearch, webSearch } from './gather/web-search.ts';
export type { ModelCheck } from './models/preflight.ts';
export { type InsertedStage, insertStageFiles } from './planning/insert-stage-files.ts';
export { type MergedFiles, mergeFiles } from './recipe/merge-files.ts';
export type { SessionEvent } from './session/event-types.ts';
export type { Question } from './session/questions.ts';
export type { ReadDocument } from './session/read-document.ts';
export type { SourceDetail, SourceInfo, SourceUse } from './session/source-info.ts';
export type { RunResult } from './session/summary.ts';
export type { Trace } from './session/trace-citation.ts';
export { type Attention, type Candidate, chooseLevels } from './sources/attention.ts';
export {
  auditCitations,
  type CitationAudit,
  type CitationDefect,
} from './sources/audit-citations.ts';
export { canonicalKey } from './sources/canonical-key.ts';
export { exportBibtex } from './sources/export-bibtex.ts';
export { exportCsl } from './sources/export-csl.ts';
export { type FindSource, formatFootnotes } from './sources/footnotes.ts';
export {
  type Level,
  restoreSource,
  type ShownSource,
  type SourceScores,
  showSource,
} from './sources/levels.ts';
export { type Listed, listSources, type SourceList } from './sources/list-sources.ts';
export { normaliseMarkers } from './sources/markers.ts';
export type { Metrics } from './sources/metrics.ts';
export { type RegistryOptions, SourceRegistry } from './sources/registry.ts';
export type { Citation, Source, SourceDraft } from './sources/source.ts';
export type { Likeness, Registered } from './sources/source-index.ts';
export type { RunBudget } from './wallet/session-budgets.ts';
