import type { ClientBase } from 'pg';
import type { DialecticError } from '../errors/errors.ts';

/** A connection that its holder has alone until it gives it back. */
export type HeldConnection = {
  readonly client: ClientBase;
  /** Gives the connection back; one with an unexpected error is closed instead of reused. */
  readonly release: (broken?: boolean) => void;
};

/**
 * What a connection is wanted for: the claims and ends of jobs (`queue`), their work, or long work (an
 * export) that no job waits for.
 */
export type Purpose = 'queue' | 'work' | 'aside';

/** A notification that may be lost. */
export type Hint = { readonly channel: string; readonly payload: string };

/** A lock on an id, taken again by itself when the connection was lost. */
export type Presence = {
  /** How long the lock has been held without a break; 0 while it is not. */
  heldForMs(): number;
  /** Gives the place up; the id stays present. */
  leavePlace(): Promise<void>;
  end(): Promise<void>;
};

/** How the rest of the program reaches PostgreSQL: embedded in a thread, or on a server. */
export interface Driver {
  readonly kind: 'embedded' | 'server';
  /** Told once the schema is right: only from then on is the store worth a backup. */
  ready(): void;
  /** Waits for a free connection, for `work` unless told. */
  acquire(purpose?: Purpose): Promise<HeldConnection>;
  /** Hears the notifications of a channel; a hint only, since some may be lost on reconnection. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  /** Sends hints, each with its channel, to those who listen, in other processes as well. */
  notify(hints: readonly Hint[]): Promise<void>;
  /**
   * Shows that something with this id is alive, and at which place it is. On a server these are locks
   * that end with its connection, so that other processes see them; an embedded database has one.
   */
  announce(id: string, place: string): Promise<Presence>;
  /** How many are at each of the places, or have it as their id, at this moment; in their order. */
  countPresent(places: readonly string[]): Promise<number[]>;
  /** Resolves when there is room to write; at once unless `storage_full` was thrown. */
  untilWritable(signal?: AbortSignal): Promise<void>;
  /** The coded error behind a failed statement, where the driver knows more than the statement. */
  explain(error: unknown): DialecticError | undefined;
  /**
   * For what must end soon: cuts the connections of a server that answers nobody any more, if `ended`
   * has not aborted after some seconds. Their statements then fail as `database_unreachable`.
   */
  cutIfSilent(ended: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
