import type { Notice as NoticeRow } from '../db/notices.ts';
import type { Wait as WaitRow } from '../jobs/waits.ts';
import type { SessionEventPage } from '../session/events.ts';
import type { FeedbackReading } from '../session/feedback.ts';
import type { ListedSession } from '../session/list-sessions.ts';
import type { CostReport as CostRows } from '../wallet/report.ts';
import type { Plain } from './plain.ts';

/** A session as lists show it. */
export type SessionInfo = Plain<ListedSession>;
export type Notice = Plain<NoticeRow>;
export type Wait = Plain<WaitRow>;
export type CostReport = Plain<CostRows>;
export type EventPage = SessionEventPage;

export type NewFeedback = {
  /** By key or name. */
  readonly stage: string;
  readonly text: string;
  /** The document it is about, by id, key, title or path; the stage as a whole where absent. */
  readonly document?: string | null | undefined;
};

/** What was noted, and the prompts that will hold it. */
export type GivenFeedback = {
  readonly session: string;
  readonly feedback: string;
  readonly readBy: FeedbackReading;
};

export type NewAnswer = {
  /** The number, id or text of the question. */
  readonly question: string;
  readonly text: string;
  /** Only questions that documents of this stage ask. */
  readonly stage?: string | null | undefined;
};

export type GivenAnswer = {
  readonly session: string;
  /** The id of the question, and its text. */
  readonly question: string;
  readonly text: string;
  readonly given: readonly Omit<GivenFeedback, 'session'>[];
};
