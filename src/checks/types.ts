import type { Day } from '../text/day.ts';
import type { FindCountry } from './calendar.ts';

/** The limits and demands of a brief, as the first step lists them. */
export type Demand = {
  readonly id: string;
  readonly text: string;
  readonly kind: 'demand' | 'limit';
  readonly measure: 'money' | 'effort' | 'time' | 'date' | 'place' | 'other';
  /** In `unit`; null where none is given or it cannot be read. */
  readonly amount: number | null;
  /** `EUR`, `hours`, `weeks`…, as readUnit spells them. */
  readonly unit: string;
  readonly per: Per;
  /** Whom a limit of effort concerns. */
  readonly who: string;
  /** The words of the brief. */
  readonly quote: string;
  /** YYYY-MM-DD, where the demand names a day. */
  readonly day: string | null;
};

type Per = 'week' | 'month' | 'year' | 'once' | '';

export type Person = {
  readonly name: string;
  readonly hoursPerWeek: number | null;
  readonly fromWeek: number | null;
  readonly toWeek: number | null;
  /** Days on which they do not work, from and to included. */
  readonly daysOff?: readonly DayRange[];
  /** What an hour of theirs is to be paid from sales; null where nothing is said. */
  readonly pay?: number | null;
};

export type DayRange = { readonly from: Day; readonly to: Day };

/** The frame in which a plan counts its days; every field may be missing. */
export type CalendarRecord = {
  /** As the plan writes it: `DE`, `DE-BY`, `Germany`. */
  readonly country: string;
  /** Language of the documents, for printed dates and figures: `en`, `de`. */
  readonly language: string;
  readonly start: Day | null;
  /** The day on which it opens for those who asked for it. */
  readonly opening: Day | null;
  /** Ids of the work items that must have ended by then. */
  readonly openingNeeds: readonly string[];
  /** The day by which it was promised. */
  readonly promised: Day | null;
  /** Share of everybody's hours that no item may ask for, from 0 to 1. */
  readonly free: number | null;
  /** What stands in fields of days that cannot be read, by field. */
  readonly unread: Readonly<Record<string, string>>;
};

export type Milestone = {
  readonly title: string;
  readonly fromWeek: number;
  readonly toWeek: number;
};

/** A day on which it is decided whether to go on. */
export type Gate = {
  /** As the plan writes it. */
  readonly when: string;
  readonly day: Day | null;
  readonly week: number | null;
  /** Ids of the work items whose results it judges. */
  readonly evidence: readonly string[];
};

/** Something that is sold. */
export type Price = {
  readonly item: string;
  readonly price: number | null;
  /** What one more costs: fees, goods, messages. */
  readonly unitCost: number | null;
  readonly currency: string;
  readonly period: Cost['period'];
};

/** Hours of one piece of work; both are equal where the writer gives one figure. */
export type Effort = { readonly low: number; readonly high: number };

export type WorkItem = {
  readonly id: string;
  readonly title: string;
  readonly owners: readonly string[];
  readonly effort: Effort | null;
  /** 1 is the first week. */
  readonly earliestWeek: number | null;
  readonly cost: number | null;
  /** Ids of other work items. */
  readonly needs: readonly string[];
  readonly demands: readonly string[];
  readonly findings: readonly string[];
  readonly doneWhen: string;
  /** What stands in fields that hold something which cannot be read, by field. */
  readonly unread: Readonly<Record<string, string>>;
};

export type Cost = {
  readonly item: string;
  readonly amount: number | null;
  readonly currency: string;
  readonly period: 'once' | 'month' | 'year';
  /** Months of the limited period in which a monthly cost falls due. */
  readonly months: number | null;
};

export type Finding = {
  readonly id: string;
  readonly claim: string;
  readonly evidence: string;
  /** Empty where the weight cannot be read. */
  readonly weight: 'heavy' | 'medium' | 'light' | '';
  readonly remedy: string;
  /** Label of the plan or proposal that it concerns. */
  readonly option: string;
  /** What an earlier document decided on it; empty where none did. */
  readonly decided: string;
};

export type Decision = {
  /** Ids of the findings that it decides. */
  readonly findings: readonly string[];
  readonly decision: 'taken_up' | 'rejected' | 'open' | '';
  readonly where: string;
  readonly why: string;
  readonly owner: string;
};

export type Figure = { readonly name: string; readonly value: string; readonly unit: string };

/** A document whose figures are compared with those of other documents. */
export type CheckedDocument = {
  readonly title: string;
  readonly figures: readonly Figure[];
  /** What a reader reads; limits that it names by id count as served. */
  readonly text?: string;
  readonly people?: readonly Person[];
  /** What its writer typed, field by field. */
  readonly prose?: readonly Passage[];
};

/** The text of one field. */
export type Passage = {
  readonly section: string;
  readonly text: string;
  /** Whether its record tells what would be if something turned out otherwise. */
  readonly isConditional: boolean;
};

export type CheckInput = {
  readonly demands: readonly Demand[];
  readonly people: readonly Person[];
  readonly workItems: readonly WorkItem[];
  readonly costs: readonly Cost[];
  readonly findings: readonly Finding[];
  readonly decisions: readonly Decision[];
  readonly documents: readonly CheckedDocument[];
  /** The Monday of week 1; without it limits that name a day are not computed. */
  readonly startDate?: Day;
  /** The session's date. */
  readonly today?: Day | null;
  /** Null in plans that count weeks without a calendar: nothing is computed by date then. */
  readonly calendar?: CalendarRecord | null;
  /** Whether a document has a place for one. */
  readonly keepsCalendar?: boolean;
  readonly milestones?: readonly Milestone[];
  readonly gates?: readonly Gate[];
  readonly prices?: readonly Price[];
  /** Holidays and weekends of a country; absent where none are known. */
  readonly findCountry?: FindCountry;
};
