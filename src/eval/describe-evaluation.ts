import { countNoun } from '../text/count-noun.ts';
import type { Evaluation } from './evaluation.ts';
import { SIDES } from './judge-folders.ts';
import { DIMENSIONS, ROLES } from './rubric.ts';
import type { Spending } from './spending.ts';
import type { PreferenceRow } from './tabulate.ts';

/** The outcome for people, in Markdown. */
export function describeEvaluation(evaluation: Evaluation): string[] {
  const { judgements, sides, wordsAsked, judging, warnings } = evaluation;
  const judges = new Set(judgements.map(({ judge }) => judge)).size;
  const sizes = SIDES.map((side) => sides[side].words.toLocaleString('en'));
  return [
    ...scoreTable(evaluation),
    '',
    `Debate / single, 0 to 10: mean of ${countNoun(judgements.length, 'judgement')} by ${countNoun(judges, 'judge')}, in both orders.`,
    '',
    ...preferenceTable(evaluation),
    '',
    ...drawTable(
      ['', 'debate', 'single'],
      [
        ['words', ...sizes],
        ['reading', ...SIDES.map((side) => `${sides[side].minutes} min`)],
        ['lines said twice', ...SIDES.map((side) => percent(sides[side].repeated))],
        ['calls', ...SIDES.map((side) => sides[side].spent?.calls.toLocaleString('en') ?? '?')],
        ['cost', ...SIDES.map((side) => costOf(sides[side].spent))],
      ],
    ),
    '',
    `Judging took ${countNoun(judging.calls, 'call')}, ${costOf(judging)}.`,
    ...(wordsAsked === null ? [] : [`Asked of the single prompt: ${wordsAsked} words.`]),
    ...(warnings.length > 0 ? ['', ...warnings.map((one) => `- ${one}`)] : []),
  ];
}

const titleOf = (role: string): string => ROLES.find(({ key }) => key === role)?.title ?? role;

function scoreTable({ scores }: Evaluation): string[] {
  const head = ['role', ...DIMENSIONS.map(([, title]) => title)];
  const rows = scores.map(({ role, scores: own }) => [
    titleOf(role),
    ...DIMENSIONS.map(([key]) => SIDES.map((side) => own[key][side].toFixed(1)).join(' / ')),
  ]);
  return drawTable(head, rows);
}

function preferenceTable({ preferences }: Evaluation): string[] {
  const head = [
    'prefers the debate',
    'in all',
    'shown first',
    'shown second',
    'judges for debate / single / turned by the order',
    'preferred',
  ];
  const rows = preferences.map(({ role, all, byFirst, judges, preferred }) => [
    titleOf(role),
    share(all),
    share(byFirst.debate),
    share(byFirst.single),
    `${judges.debate} / ${judges.single} / ${judges.turned}`,
    preferred ?? 'neither',
  ]);
  return drawTable(head, rows);
}

const share = ({ debate, of }: PreferenceRow['all']): string => `${debate} of ${of}`;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function costOf(spent: Spending | null): string {
  if (spent === null) return 'not known';
  return spent.costUsd === null ? 'price unknown' : `$${spent.costUsd.toFixed(4)}`;
}

const drawTable = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
