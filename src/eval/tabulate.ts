import { type Judgement, SIDES, type Side } from './judge-folders.ts';
import { DIMENSIONS, type Dimension, ROLES, type Role } from './rubric.ts';

/** Mean scores of one role, or of all. */
type ScoreRow = {
  readonly role: Role['key'] | 'all';
  readonly scores: Readonly<Record<Dimension, Readonly<Record<Side, number>>>>;
};

type Count = { readonly debate: number; readonly of: number };

/** How often the debate was preferred. */
export type PreferenceRow = {
  readonly role: Role['key'] | 'all';
  readonly all: Count;
  /** By the folder that came first: two unlike counts tell that the place decided. */
  readonly byFirst: Readonly<Record<Side, Count>>;
  /** Judges who chose the same side in both orders, and those whom the order turned. */
  readonly judges: Readonly<Record<Side | 'turned', number>>;
  /** The side that more judges chose in both orders; null where neither has more. */
  readonly preferred: Side | null;
};

export type Table = {
  readonly scores: readonly ScoreRow[];
  readonly preferences: readonly PreferenceRow[];
};

/** Sums judgements up; a role without judgements has no row. */
export function tabulate(judgements: readonly Judgement[]): Table {
  const keys = [...ROLES.map(({ key }) => key), 'all'] as const;
  const groups = keys
    .map((role) => ({
      role,
      own: judgements.filter((one) => role === 'all' || one.role === role),
    }))
    .filter(({ own }) => own.length > 0);
  return {
    scores: groups.map(({ role, own }) => ({ role, scores: meanScores(own) })),
    preferences: groups.map(({ role, own }) => countPreferences(role, own)),
  };
}

function meanScores(own: readonly Judgement[]): ScoreRow['scores'] {
  const mean = (side: Side, key: Dimension): number =>
    own.reduce((sum, one) => sum + one[side].scores[key].score, 0) / own.length;
  const entries = DIMENSIONS.map(([key]) => [
    key,
    { debate: mean('debate', key), single: mean('single', key) },
  ]);
  return Object.fromEntries(entries) as ScoreRow['scores'];
}

function countPreferences(role: PreferenceRow['role'], own: readonly Judgement[]): PreferenceRow {
  const judges = { debate: 0, single: 0, turned: 0 };
  for (const pair of pairUp(own)) {
    const [choice] = SIDES.filter((side) => pair.every(({ preference }) => preference === side));
    judges[choice ?? 'turned']++;
  }
  const ahead = judges.debate - judges.single;
  return {
    role,
    all: count(own),
    byFirst: {
      debate: count(own.filter(({ first }) => first === 'debate')),
      single: count(own.filter(({ first }) => first === 'single')),
    },
    judges,
    preferred: ahead === 0 ? null : ahead > 0 ? 'debate' : 'single',
  };
}

const count = (own: readonly Judgement[]): Count => ({
  debate: own.filter(({ preference }) => preference === 'debate').length,
  of: own.length,
});

/** The two orders of one judge in one role; half a pair says nothing and is left out. */
function pairUp(own: readonly Judgement[]): Judgement[][] {
  const pairs = Map.groupBy(own, ({ judge, role }) => `${role} ${judge}`);
  return [...pairs.values()].filter((pair) => pair.length === SIDES.length);
}
