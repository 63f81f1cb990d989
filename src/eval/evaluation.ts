import { type Judging, SIDES, type Side } from './judge-folders.ts';
import type { Reading } from './reading.ts';
import type { Spending } from './spending.ts';
import { type Table, tabulate } from './tabulate.ts';

/** What is known of one folder beside its texts. */
type SideFacts = {
  readonly folder: string;
  readonly models: readonly string[];
  readonly words: number;
  readonly minutes: number;
  /** Share of the lines that stand in another file of the folder too. */
  readonly repeated: number;
  /** Null where the folder was given and nothing says what it took. */
  readonly spent: Spending | null;
};

/** Everything that an evaluation has found, as `--json` prints it. */
export type Evaluation = Judging &
  Table & {
    readonly sides: Readonly<Record<Side, SideFacts>>;
    /** The words that the single prompt asked for; null where its folder was given. */
    readonly wordsAsked: number | null;
    /** What a reader of the table has to know to trust it. */
    readonly warnings: readonly string[];
  };

/** A side before it is judged. */
export type PreparedSide = Omit<SideFacts, 'words' | 'minutes' | 'repeated'> & {
  readonly reading: Reading;
};

const MOST_APART = 0.15;

/** Puts the outcome together. */
export function concludeEvaluation(
  prepared: Readonly<Record<Side, PreparedSide>>,
  judging: Judging,
  wordsAsked: number | null,
): Evaluation {
  const sides = { debate: toFacts(prepared.debate), single: toFacts(prepared.single) };
  const warnings = [...findNames(prepared), ...findWarnings(sides, judging)];
  return { sides, wordsAsked, warnings, ...tabulate(judging.judgements), ...judging };
}

const toFacts = ({ reading, ...facts }: PreparedSide): SideFacts => ({
  ...facts,
  words: reading.words,
  minutes: reading.minutes,
  repeated: reading.repeated,
});

/** A folder that names its writers is not judged blind. */
function findNames(prepared: Readonly<Record<Side, PreparedSide>>): string[] {
  return SIDES.flatMap((side) => {
    const { models, reading } = prepared[side];
    const named = [...new Set(models)].filter((model) =>
      reading.files.some(({ text }) => text.includes(model)),
    );
    return named.map((model) => `The ${side} folder names ${model}: judges could tell it.`);
  });
}

function findWarnings(
  { debate, single }: Evaluation['sides'],
  { judgements, missing }: Judging,
): string[] {
  const judges = new Set([...judgements, ...missing].map(({ judge }) => judge));
  const writers = new Set([...debate.models, ...single.models]);
  const both = [...judges].filter((judge) => writers.has(judge));
  const apart = single.words / debate.words - 1;
  const share = `${Math.abs(Math.round(apart * 100))} %`;
  return [
    ...both.map((model) => `${model} judges what it wrote itself; models prefer their own texts.`),
    ...(Math.abs(apart) > MOST_APART
      ? [`The single folder is ${share} ${apart < 0 ? 'shorter' : 'longer'} than the debate's.`]
      : []),
    ...missing.map(
      ({ judge, role, first, error }) =>
        `Missing: ${judge} as ${role}, ${first} first: ${error.message} (${error.code})`,
    ),
  ];
}
