/**
 * The public API: open a store, find out who is asking, read what happened, stop and
 * resume a run, change recipes.
 */
export type { Database, Scope, Transaction } from './db/database.ts';
export { appendEvents, readEvents, type StoredEvent } from './db/events.ts';
export { type OpenOptions, openDatabase, type StoreLocation } from './db/open.ts';
export { authenticate, createTenant, ensureLocalTenant, issueToken } from './db/tenants.ts';
export { DialecticError } from './errors/errors.ts';
export { type InsertedStage, insertStageFiles } from './planning/insert-stage-files.ts';
export { type MergedFiles, mergeFiles } from './recipe/merge-files.ts';
export type { SessionEvent } from './session/event-types.ts';
export { readSessionEvents, watchSession } from './session/events.ts';
export { resumeRun } from './session/resume.ts';
export { cancelRun, pauseRun } from './session/stop.ts';
