import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StartedReplay } from '../api/replay-run.ts';
import { describeDocument } from '../recipe/contract.ts';
import type { DocumentRef, Process } from '../recipe/types.ts';
import type { RunResult } from '../session/summary.ts';
import { countNoun } from '../text/count-noun.ts';
import { describeOutcome } from './outcome-text.ts';

/** What is replayed, before it begins. */
export function describeRecording(
  { process, project, models }: StartedReplay,
  folder: string,
): string[] {
  return [
    `Replaying ${folder}: ${process} on "${project}" with ${models.join(' and ')}.`,
    'The answers are recorded: no model is called now, and nothing is charged.',
  ];
}

/** What came of a replay: the stages, the vote, what it cost then, and what to open first. */
export function describeReplay(
  result: RunResult,
  process: Process,
  out: string | undefined,
): string[] {
  const rendered = result.documents.filter(({ path }) => path !== null);
  const widest = Math.max(...process.stages.map(({ name }) => name.length));
  const rows = process.stages.map(({ key, name }) => {
    const count = rendered.filter(({ stage }) => stage === key).length;
    return `  ${name.padEnd(widest)}  ${countNoun(count, 'document')}`;
  });
  return [
    `${result.status}: ${countNoun(result.answers.recording, 'recorded answer')}, ` +
      `${countNoun(result.documentCount, 'document')}.`,
    ...describeFilled(result),
    '',
    ...rows,
    '',
    ...describeOutcome(result),
    '',
    describeCost(result),
    ...(out ? ['', 'Open first:', ...describeFolder(result, process, out)] : []),
  ];
}

function describeFilled({ answers: { offline } }: RunResult): string[] {
  const count = countNoun(offline, 'answer was', 'answers were');
  const who = 'the offline author, which is no language model, wrote instead';
  return offline === 0 ? [] : [`${count} not recorded; ${who}.`];
}

const count = (tokens: number): string => tokens.toLocaleString('en');

function describeCost({ usage }: RunResult): string {
  const { inputTokens, outputTokens, recordedCostUsd: cost } = usage;
  const tokens = `${countNoun(inputTokens, 'token')} read and ${count(outputTokens)} written`;
  const then = cost === null ? 'at unknown prices' : `$${cost.toFixed(2)} at the prices of then`;
  return `The recorded run: ${tokens}, ${then}. This replay: nothing.`;
}

/** The first page, the folders of the result, the work items, and the list of the whole debate. */
function describeFolder({ session }: RunResult, process: Process, out: string): string[] {
  const folders = Map.groupBy(process.results, ({ folder }) => folder);
  const results = [...folders].flatMap(([folder, refs]) =>
    folder === null ? [] : [[folder, refs.map((ref) => titleOf(process, ref)).join(', ')]],
  );
  const places = [
    ['project_readme.md', 'the first page: read this before anything else'],
    ...results,
    ['Pending', 'the work to be done, a file for each piece'],
    [join(`session_${session.slice(-12)}`, 'contents.md'), 'the whole debate behind the result'],
  ];
  const there = places.filter(([path]) => existsSync(join(out, path!)));
  const widest = Math.max(...there.map(([path]) => path!.length));
  return there.map(([path, about]) => `  ${join(out, path!.padEnd(widest))}  ${about}`);
}

function titleOf({ stages }: Process, { stage: stageKey, documentKey }: DocumentRef): string {
  const stage = stages.find(({ key }) => key === stageKey)!;
  const step = stage.steps.find(({ output }) => output.documentKey === documentKey)!;
  return describeDocument(stage, step).title;
}
