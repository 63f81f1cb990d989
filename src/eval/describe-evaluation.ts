import { countNoun } from '../text/count-noun.ts';
import type { Evaluation } from './evaluation.ts';
import { SIDES } from './judge-cases.ts';
import { DIMENSIONS, ROLES } from './rubric.ts';
import type { Spending } from './spending.ts';
import type { SignTest, Summary } from './statistics.ts';
import type { PreferenceRow } from './tabulate.ts';
import type { RivalName } from './texts.ts';

const RIVAL_TITLES: Readonly<Record<RivalName, string>> = {
  'one-prompt': 'one prompt',
  'three-passes': 'three passes',
  'best-of': 'best of drafts',
  given: 'given folder',
};

const UNIT =
  'One judgement is both orders of one judge in one role on one brief; where the orders disagree it is a tie. Spread is the standard deviation over judgements. p: a two-sided sign test without the ties; below 0.05 is more than chance. The roles of a judge are not as independent as judges are: read the row of all with care.';

/** The outcome for people, in Markdown. */
export function describeEvaluation(evaluation: Evaluation): string[] {
  const { judging, warnings } = evaluation;
  return [
    ...evaluation.comparisons.flatMap(describeComparison),
    UNIT,
    '',
    ...textTable(evaluation),
    '',
    `Judging took ${countNoun(judging.calls, 'call')}, ${costOf(judging)}.`,
    ...(warnings.length > 0 ? ['', ...warnings.map((one) => `- ${one}`)] : []),
  ];
}

const titleOf = (role: string): string =>
  ROLES.find(({ key }) => key === role)?.title ?? 'all roles';

function describeComparison({
  rival,
  scores,
  preferences,
}: Evaluation['comparisons'][number]): string[] {
  const title = RIVAL_TITLES[rival];
  const head = ['', ...['debate', title].flatMap((side) => [side, 'spread', 'range'])];
  const tables = scores.flatMap(({ role, judgements, scores: own }) => [
    `### ${titleOf(role)}: ${countNoun(judgements, 'judgement')}`,
    '',
    ...drawTable(
      head,
      DIMENSIONS.map(([key, name]) => [
        name,
        ...SIDES.flatMap((side) => describeSummary(own[key][side])),
      ]),
    ),
    '',
  ]);
  return [`## debate against ${title}`, '', ...preferenceTable(title, preferences), '', ...tables];
}

const describeSummary = ({ mean, deviation, least, most }: Summary): string[] => [
  mean.toFixed(1),
  deviation === null ? '–' : deviation.toFixed(1),
  `${least.toFixed(1)} to ${most.toFixed(1)}`,
];

function preferenceTable(title: string, preferences: readonly PreferenceRow[]): string[] {
  const head = [
    'would rather have',
    'debate',
    title,
    'tie',
    'debate shown first',
    'shown second',
    'more than chance?',
  ];
  const rows = preferences.map(({ role, judgements, byFirst, test }) => [
    titleOf(role),
    ...[judgements.debate, judgements.rival, judgements.tie].map(String),
    ...SIDES.map((side) => `${byFirst[side].debate} of ${byFirst[side].of}`),
    describeTest(judgements, test, title),
  ]);
  return drawTable(head, rows);
}

/** `5 of 6 for the debate is not yet more than chance (p = 0.22); 10 of 12 would be` */
export function describeTest(
  { debate, rival }: { readonly debate: number; readonly rival: number },
  { p, isMoreThanChance, needed }: SignTest,
  title: string,
): string {
  const of = debate + rival;
  if (of === 0) return 'nothing was decided';
  if (debate === rival) return `${debate} of ${of} for each: no preference`;
  const ahead =
    debate > rival ? `${debate} of ${of} for the debate` : `${rival} of ${of} for ${title}`;
  const chance = `(p ${p < 0.001 ? '< 0.001' : `= ${p.toFixed(p < 0.1 ? 3 : 2)}`})`;
  if (isMoreThanChance) return `${ahead} is more than chance ${chance}`;
  const would = needed
    ? `${needed.for} of ${needed.of} would be`
    : 'so even a split takes more than a thousand judgements';
  return `${ahead} is not yet more than chance ${chance}; ${would}`;
}

function textTable({ briefs }: Evaluation): string[] {
  const head = [
    'brief',
    'text',
    'words',
    'asked for',
    'reading',
    'lines said twice',
    'drafts',
    'calls',
    'cost',
  ];
  const rows = briefs.flatMap(({ name, debate, rivals }) =>
    [
      { ...debate, title: 'debate' },
      ...rivals.map((one) => ({ ...one, title: RIVAL_TITLES[one.rival] })),
    ].map(({ title, words, wordsAsked, minutes, repeated, drafts, spent }) => [
      name,
      title,
      words.toLocaleString('en'),
      wordsAsked?.toLocaleString('en') ?? '',
      `${minutes} min`,
      `${(100 * repeated).toFixed(1)} %`,
      drafts?.toLocaleString('en') ?? '',
      spent?.calls.toLocaleString('en') ?? '?',
      costOf(spent),
    ]),
  );
  return drawTable(head, rows);
}

function costOf(spent: Spending | null): string {
  if (spent === null) return 'not known';
  return spent.costUsd === null ? 'price unknown' : `$${spent.costUsd.toFixed(4)}`;
}

/** Names of briefs are those of files, and may hold what draws a table. */
const drawTable = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
