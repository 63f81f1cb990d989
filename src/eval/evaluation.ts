import type { Judging, MissingJudgement } from './judge-cases.ts';
import { addSpendings, type Spending } from './spending.ts';
import { type Table, tabulate } from './tabulate.ts';
import type { PreparedText, RivalName } from './texts.ts';

/** What is known of one folder beside its texts. */
type TextFacts = Omit<PreparedText, 'reading'> & {
  readonly words: number;
  readonly minutes: number;
  /** Share of the lines that stand in another file of the folder too. */
  readonly repeated: number;
};

/** A brief with the folders that answer it, before they are judged. */
export type PreparedBrief = {
  readonly name: string;
  readonly text: string;
  readonly debate: PreparedText;
  readonly rivals: readonly (PreparedText & { readonly rival: RivalName })[];
};

type BriefFacts = {
  readonly name: string;
  readonly debate: TextFacts;
  readonly rivals: readonly (TextFacts & { readonly rival: RivalName })[];
};

/** A judge who is asked about a text that the same model wrote. */
type OwnText = { readonly judge: string; readonly brief: string; readonly text: string };

/** The debate against one rival, on all briefs. */
type Comparison = Table & { readonly rival: RivalName };

/** Everything that an evaluation has found, as `--json` prints it. */
export type Evaluation = Judging & {
  readonly briefs: readonly BriefFacts[];
  readonly comparisons: readonly Comparison[];
  /** What the judges took, judgements of earlier evaluations included. */
  readonly judging: Spending;
  /** Models prefer their own texts: whose judgements are of such. */
  readonly ownTexts: readonly OwnText[];
  /** What a reader of the tables has to know to trust them. */
  readonly warnings: readonly string[];
};

const MOST_APART = 0.15;

/** Puts the outcome together. */
export function concludeEvaluation(
  briefs: readonly PreparedBrief[],
  { judgements, missing }: Judging,
  judges: readonly string[],
): Evaluation {
  const names = [...new Set(briefs.flatMap(({ rivals }) => rivals.map(({ rival }) => rival)))];
  const comparisons = names.map((rival) => ({
    rival,
    ...tabulate(judgements.filter(({ rivals }) => rivals.includes(rival))),
  }));
  const ownTexts = findOwnTexts(briefs, judges);
  const warnings = [
    ...ownTexts.map(
      ({ judge, brief, text }) =>
        `Judge ${judge} wrote one of the texts itself (${brief}, ${text}); models prefer their own.`,
    ),
    ...briefs.flatMap(findNames),
    ...briefs.flatMap(findLengths),
    ...briefs.flatMap(findLoneDrafts),
    ...describeMissing(missing),
  ];
  const judging = addSpendings([...judgements, ...missing].map(({ spent }) => spent));
  const facts = briefs.map(toFacts);
  return { briefs: facts, comparisons, judging, ownTexts, warnings, judgements, missing };
}

const toFacts = ({ name, debate, rivals }: PreparedBrief): BriefFacts => ({
  name,
  debate: factsOf(debate),
  rivals: rivals.map(({ rival, ...text }) => ({ rival, ...factsOf(text) })),
});

const factsOf = ({ reading, ...facts }: PreparedText): TextFacts => ({
  ...facts,
  words: reading.words,
  minutes: reading.minutes,
  repeated: reading.repeated,
});

const textsOf = ({ debate, rivals }: PreparedBrief): (PreparedText & { text: string })[] => [
  { ...debate, text: 'debate' },
  ...rivals.map((one) => ({ ...one, text: one.rival })),
];

const findOwnTexts = (briefs: readonly PreparedBrief[], judges: readonly string[]): OwnText[] =>
  briefs.flatMap((brief) =>
    textsOf(brief).flatMap(({ models, text }) =>
      judges
        .filter((judge) => models.includes(judge))
        .map((judge) => ({ judge, brief: brief.name, text })),
    ),
  );

/** A folder that names its writers is not judged blind. */
const findNames = (brief: PreparedBrief): string[] =>
  textsOf(brief).flatMap(({ models, reading, text }) =>
    [...new Set(models)]
      .filter((model) => reading.files.some((file) => file.text.includes(model)))
      .map((model) => `${brief.name}: the ${text} names ${model}: judges could tell it.`),
  );

function findLengths({ name, debate, rivals }: PreparedBrief): string[] {
  return rivals.flatMap(({ rival, reading }) => {
    const apart = reading.words / debate.reading.words - 1;
    if (Math.abs(apart) <= MOST_APART) return [];
    const share = `${Math.abs(Math.round(apart * 100))} %`;
    const than = `${share} ${apart < 0 ? 'shorter' : 'longer'} than the debate's`;
    return [`${name}: the ${rival} folder is ${than}.`];
  });
}

const findLoneDrafts = ({ name, rivals }: PreparedBrief): string[] =>
  rivals.some(({ drafts }) => drafts === 1)
    ? [`${name}: best-of is one draft: the debate's money bought no second.`]
    : [];

/** One line for each judge and reason: what ends the money ends it for many. */
function describeMissing(missing: readonly MissingJudgement[]): string[] {
  const groups = Map.groupBy(missing, ({ judge, error }) => `${judge} ${error.message}`);
  return [...groups.values()].map((same) => {
    const { judge, role, first, brief, error } = same[0]!;
    const where = `${brief} as ${role}, ${first} first`;
    const more = same.length > 1 ? ` and ${same.length - 1} more` : '';
    return `Missing: ${judge}, ${where}${more}: ${error.message} (${error.code})`;
  });
}
