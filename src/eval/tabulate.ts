import { type Judgement, SIDES, type Side } from './judge-cases.ts';
import { DIMENSIONS, type Dimension, ROLES, type Role } from './rubric.ts';
import { type SignTest, type Summary, signTest, summarise } from './statistics.ts';

/** Scores of one role, or of all, over judgements of which both orders count as one. */
type ScoreRow = {
  readonly role: Role['key'] | 'all';
  /** How many judgements these are. */
  readonly judgements: number;
  readonly scores: Readonly<Record<Dimension, Readonly<Record<Side, Summary>>>>;
};

type Count = { readonly debate: number; readonly of: number };

/** What a role, or all, would rather have. */
export type PreferenceRow = {
  readonly role: Role['key'] | 'all';
  /** Judgements for a side in both orders; `tie` are those that the order turned. */
  readonly judgements: Readonly<Record<Side | 'tie', number>>;
  /** How often the debate was preferred by the folder that came first: unlike counts tell of a bias. */
  readonly byFirst: Readonly<Record<Side, Count>>;
  /** The side with more judgements; null where neither has more. */
  readonly preferred: Side | null;
  readonly test: SignTest;
};

export type Table = {
  readonly scores: readonly ScoreRow[];
  readonly preferences: readonly PreferenceRow[];
};

/** Sums the judgements against one rival up; a role without judgements has no row. */
export function tabulate(judgements: readonly Judgement[]): Table {
  const keys = [...ROLES.map(({ key }) => key), 'all'] as const;
  const groups = keys
    .map((role) => ({
      role,
      own: judgements.filter((one) => role === 'all' || one.role === role),
    }))
    .filter(({ own }) => own.length > 0);
  return {
    scores: groups.map(({ role, own }) => describeScores(role, pairUp(own))),
    preferences: groups.map(({ role, own }) => countPreferences(role, own)),
  };
}

/** The two orders of one judge in one role on one brief: they are one judgement. */
const pairUp = (own: readonly Judgement[]): Judgement[][] => [
  ...Map.groupBy(own, ({ brief, pair, judge, role }) =>
    JSON.stringify([brief, pair, judge, role]),
  ).values(),
];

/** A judgement of which one order is missing counts with the other. */
function describeScores(role: ScoreRow['role'], pairs: readonly Judgement[][]): ScoreRow {
  const valuesOf = (side: Side, key: Dimension): number[] =>
    pairs.map(
      (pair) =>
        pair.reduce((sum, one) => sum + one.opinions[side].scores[key].score, 0) / pair.length,
    );
  const entries = DIMENSIONS.map(([key]) => [
    key,
    { debate: summarise(valuesOf('debate', key)), rival: summarise(valuesOf('rival', key)) },
  ]);
  const scores = Object.fromEntries(entries) as ScoreRow['scores'];
  return { role, judgements: pairs.length, scores };
}

/** Half a pair says nothing of a preference, and is left out. */
function countPreferences(role: PreferenceRow['role'], own: readonly Judgement[]): PreferenceRow {
  const judgements = { debate: 0, rival: 0, tie: 0 };
  for (const pair of pairUp(own).filter((one) => one.length === SIDES.length)) {
    const [choice] = SIDES.filter((side) => pair.every(({ preference }) => preference === side));
    judgements[choice ?? 'tie']++;
  }
  const { debate, rival } = judgements;
  return {
    role,
    judgements,
    byFirst: {
      debate: count(own.filter(({ first }) => first === 'debate')),
      rival: count(own.filter(({ first }) => first === 'rival')),
    },
    preferred: debate === rival ? null : debate > rival ? 'debate' : 'rival',
    test: signTest(debate, rival),
  };
}

const count = (own: readonly Judgement[]): Count => ({
  debate: own.filter(({ preference }) => preference === 'debate').length,
  of: own.length,
});
