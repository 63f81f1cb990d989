import { describe, expect, test } from 'vitest';
import {
  processOf,
  stage,
  step,
  withFiles,
  withGate,
  withSteps,
} from '../../test/recipes/build.ts';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { shippedWhole as load } from '../../test/recipes/shipped.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { diffProcesses, diffStages } from './diff.ts';
import * as edit from './edit.ts';
import { mergeOrigin } from './merge.ts';
import { mergeProcess } from './merge-process.ts';
import { parseProcess } from './parse.ts';
import { processToFiles } from './serialise.ts';
import type { Process, Stage } from './types.ts';
import { loadProcess, validateProcess } from './validate.ts';
import { hashProcess, hashStage, hashStep, processFromVersion, versionOf } from './version.ts';

const shipped = load('software-plan');
const stageOf = (process: Process, key: string): Stage =>
  process.stages.find((one) => one.key === key)!;

describe('versions', () => {
  test('one content has one hash, whatever the order of its fields', () => {
    expect(canonicalJson({ b: [1, { d: 1, c: undefined }], a: 'x' })).toBe(
      '{"a":"x","b":[1,{"d":1}]}',
    );
    expect(hashProcess(load('software-plan'))).toBe(hashProcess(shipped));
    const files = processToFiles(shipped);
    const shuffled = new Map([...files].toReversed());
    expect(hashProcess(parseProcess(shuffled).value!)).toBe(hashProcess(shipped));
  });

  test('any change of any text makes another version', () => {
    const process = loadProcess(documentedExample());
    for (const [path, text] of documentedExample()) {
      if (!path.endsWith('.md')) continue;
      const changed = documentedExample().set(path, `${text}\nMore.`);
      expect(hashProcess(loadProcess(changed)), path).not.toBe(hashProcess(process));
    }
  });

  test('a process is stored as a manifest and shared stages, and comes back equal', () => {
    const { manifest, stages } = versionOf(shipped);
    const stored = JSON.parse(JSON.stringify({ manifest, stages })) as typeof versionParts;
    expect(processFromVersion(stored.manifest, stored.stages)).toEqual(shipped);
  });
  const versionParts = versionOf(shipped);

  test('a stored stage that was tampered with is refused', () => {
    const { manifest, stages } = versionOf(shipped);
    const key = manifest.stages[1]!.hash;
    const forged = { ...stages, [key]: { ...stages[key]!, name: 'Forged' } };
    expect(() => processFromVersion(manifest, forged)).toThrow(/stage thesis has been changed/);
    expect(() => processFromVersion(manifest, {})).toThrow(/is not there/);
  });
});

describe('forks', () => {
  test('a fork copies one stage and shares the others', () => {
    const fork = edit.forkStage(shipped, 'antithesis');
    const [before, after] = [versionOf(shipped), versionOf(fork)];
    const changed = after.manifest.stages.filter((part) => !(part.hash in before.stages));
    expect(changed.map((part) => part.key)).toEqual(['antithesis']);
    expect(stageOf(fork, 'thesis')).toBe(stageOf(shipped, 'thesis'));
  });

  test('a forked stage and its steps say where they came from', () => {
    const fork = stageOf(edit.forkStage(shipped, 'thesis'), 'thesis');
    const source = stageOf(shipped, 'thesis');
    expect(fork.origin).toEqual({
      process: 'software-plan',
      stage: 'thesis',
      version: hashStage(source),
    });
    expect(fork.steps[1]!.origin).toEqual({
      stage: 'thesis',
      step: 'thesis_generate_business_case',
      hash: hashStep(source, source.steps[1]!),
    });
    expect(hashStep(fork, fork.steps[1]!)).toBe(fork.steps[1]!.origin!.hash);
  });

  test('edits leave the original alone and fork by themselves', () => {
    const before = hashProcess(shipped);
    const edited = edit.overrideStep(shipped, 'paralysis', 'generate-actionable-checklist', {
      name: 'Work plan',
    });
    expect(hashProcess(shipped)).toBe(before);
    expect(stageOf(edited, 'paralysis').origin).not.toBeNull();
    const [, checklist] = stageOf(edited, 'paralysis').steps;
    expect(hashStep(stageOf(edited, 'paralysis'), checklist!)).not.toBe(checklist!.origin!.hash);
  });

  test('origins survive the way through files', () => {
    const fork = edit.overrideStep(shipped, 'thesis', 'thesis_generate_success_metrics', {
      skip: true,
    });
    expect(parseProcess(processToFiles(fork)).value).toEqual(fork);
  });

  test('a step that the stage does not have cannot be changed', () => {
    const change = () => edit.overrideStep(shipped, 'thesis', 'gone', { skip: true });
    expect(change).toThrow(/no step gone/);
    expect(() => edit.forkStage(shipped, 'gone')).toThrow(/no stage gone/);
  });

  test('a skipped step is missed by those that need its document', () => {
    const skipped = edit.overrideStep(
      shipped,
      'antithesis',
      'antithesis_generate_comparison_vector',
      { skip: true },
    );
    expect(validateProcess(skipped).map((issue) => issue.code)).toContain('missing_producer');
  });

  test('stages can be inserted, and gates stay where they were', () => {
    const gated = withGate(shipped, 'synthesis');
    const review = stage('review', [
      step('r', 'EXECUTE', 'all_to_one', 'r', ['doc:synthesis/tech_stack']),
    ]);
    const inserted = edit.insertStage(gated, review, { after: 'synthesis' });
    expect(inserted.transitions.slice(3, 5)).toEqual([
      { from: 'synthesis', to: 'review', gate: true },
      { from: 'review', to: 'parenthesis', gate: false },
    ]);
    expect(validateProcess(inserted)).toEqual([]);
    expect(edit.insertStage(gated, review, 'first').stages[0]).toBe(review);
    expect(() => edit.insertStage(inserted, review, 'last')).toThrow(/already/);
  });
});

describe('the stage after which one lane may write alone', () => {
  const none: Process = { ...shipped, writerAfter: null };
  const after = (writerAfter: string | null): Process => ({ ...shipped, writerAfter });

  test('survives the way through files and makes another version', () => {
    expect(parseProcess(processToFiles(after('synthesis'))).value).toEqual(after('synthesis'));
    expect(hashProcess(after('synthesis'))).not.toBe(hashProcess(none));
    const { manifest, stages } = versionOf(after('synthesis'));
    expect(processFromVersion(manifest, stages).writerAfter).toBe('synthesis');
  });

  test('is a difference, and merges like any other field', () => {
    expect(diffProcesses(none, after('thesis'))).toEqual([
      { stage: '', place: 'writerAfter', kind: 'changed', before: null, after: 'thesis' },
    ]);
    const taken = mergeProcess(none, none, after('synthesis'));
    expect(taken).toMatchObject({ process: { writerAfter: 'synthesis' }, conflicts: [] });
    const kept = mergeProcess(none, after('thesis'), after('synthesis'));
    expect(kept.process.writerAfter).toBe('thesis');
    expect(kept.conflicts.map((one) => one.place)).toEqual(['process › writerAfter']);
    expect(mergeProcess(after('thesis'), after(null), after('thesis')).process.writerAfter).toBe(
      null,
    );
  });
});

describe('diff', () => {
  test('names each change by place', () => {
    let fork = edit.overrideStep(shipped, 'thesis', 'thesis_generate_success_metrics', {
      skip: true,
    });
    fork = withFiles(fork, 'thesis', { 'prompts/business_case.md': 'New.' });
    fork = withSteps(fork, 'thesis', (steps) => [
      ...steps.filter(({ key }) => !/_(feature_spec|business_case)$/.test(key)),
      ...steps.filter(({ key }) => key === 'thesis_generate_business_case'),
    ]);
    const changes = diffStages(stageOf(shipped, 'thesis'), stageOf(fork, 'thesis'));
    expect(changes.map(({ kind, place }) => `${kind} ${place}`)).toEqual([
      'removed steps › thesis_generate_feature_spec',
      'changed order of steps',
      'changed steps › thesis_generate_success_metrics › skip',
      'changed files › prompts/business_case.md',
    ]);
    expect(diffProcesses(shipped, fork)).toEqual(changes);
  });

  test('an unchanged fork differs in nothing', () => {
    expect(diffProcesses(shipped, edit.forkStage(shipped, 'synthesis'))).toEqual([]);
  });
});

describe('merge of a newer origin', () => {
  const small = processOf('p', [
    stage('s', [
      step('a', 'EXECUTE', 'all_to_one', 'a', ['seed:s/']),
      step('b', 'EXECUTE', 'all_to_one', 'b', ['doc:s/a=0.5']),
      step('c', 'EXECUTE', 'all_to_one', 'c', ['doc:s/a=0.5', 'doc:s/b?=0.4']),
    ]),
  ]);
  const base = stageOf(small, 's');
  const merge = (fork: Process, origin: Process) =>
    mergeOrigin(base, stageOf(fork, 's'), stageOf(origin, 's'));

  test('takes what only the origin changed and keeps what only the fork changed', () => {
    let fork = edit.overrideStep(small, 's', 'a', { name: 'Ours' });
    const ours = step('ours', 'EXECUTE', 'all_to_one', 'o', ['seed:s/']);
    fork = withSteps(fork, 's', (steps) => [ours, ...steps]);
    let origin = withFiles(small, 's', { 'prompts/any.md': 'Newer.' });
    origin = edit.overrideStep(origin, 's', 'a', { quorum: 2, dependencyPolicy: 'quorum' });
    const added = step('new', 'EXECUTE', 'all_to_one', 'n', ['seed:s/']);
    origin = withSteps(origin, 's', (steps) => steps.toSpliced(2, 0, added));
    const { stage: merged, conflicts } = merge(fork, origin);
    expect(conflicts).toEqual([]);
    expect(merged.steps.map((one) => one.key)).toEqual(['ours', 'a', 'b', 'new', 'c']);
    expect(merged.steps[1]).toMatchObject({ name: 'Ours', quorum: 2 });
    expect(merged.files['prompts/any.md']).toBe('Newer.');
    expect(merged.origin!.version).toBe(hashStage(stageOf(origin, 's')));
  });

  test('names what both changed, and keeps the side of the fork', () => {
    const fork = edit.overrideStep(small, 's', 'a', { name: 'Ours' });
    const origin = edit.overrideStep(small, 's', 'a', { name: 'Theirs' });
    const { stage: merged, conflicts } = merge(fork, origin);
    expect(merged.steps[0]!.name).toBe('Ours');
    expect(conflicts).toEqual([
      { stage: 's', place: 'steps › a › name', base: 'a', fork: 'Ours', origin: 'Theirs' },
    ]);
  });

  test('a step that one side removed and the other changed is a conflict', () => {
    const removed = withSteps(small, 's', (steps) => steps.slice(0, 2));
    const changed = edit.overrideStep(small, 's', 'c', { name: 'Changed' });
    const kept = merge(changed, removed);
    expect(kept.stage.steps.map((one) => one.key)).toEqual(['a', 'b', 'c']);
    expect(kept.conflicts.map((one) => one.place)).toEqual(['steps › c']);
    const gone = merge(removed, changed);
    expect(gone.stage.steps.map((one) => one.key)).toEqual(['a', 'b']);
    expect(gone.conflicts.map((one) => one.place)).toEqual(['steps › c']);
    const elsewhere = merge(edit.overrideStep(small, 's', 'a', { name: 'Ours' }), removed);
    expect(elsewhere.stage.steps.map((one) => one.key)).toEqual(['a', 'b']);
    expect(elsewhere.conflicts).toEqual([]);
  });

  test('inputs merge one by one', () => {
    const [, , c] = base.steps;
    const [first, second] = c!.inputs;
    const fork = edit.overrideStep(small, 's', 'c', {
      inputs: [{ ...first!, relevance: 0.9 }, second!],
    });
    const origin = edit.overrideStep(small, 's', 'c', {
      inputs: [first!, { ...second!, relevance: 0.1 }],
    });
    const { stage: merged, conflicts } = merge(fork, origin);
    expect(conflicts).toEqual([]);
    expect(merged.steps[2]!.inputs.map((one) => one.relevance)).toEqual([0.9, 0.1]);
  });

  test('an order that both changed is a conflict, one that one side changed is taken', () => {
    const ours = withSteps(small, 's', ([a, ...rest]) => [...rest, a!]);
    const theirs = withSteps(small, 's', ([a, b, c]) => [c!, a!, b!]);
    const both = merge(ours, theirs);
    expect(both.conflicts.map((one) => one.place)).toEqual(['order of steps']);
    expect(both.stage.steps.map((one) => one.key)).toEqual(['b', 'c', 'a']);
    expect(merge(small, theirs).stage.steps.map((one) => one.key)).toEqual(['c', 'a', 'b']);
  });

  test('merging the origin it already has changes nothing', () => {
    const fork = edit.overrideStep(small, 's', 'a', { name: 'Ours' });
    const { stage: merged, conflicts } = mergeOrigin(base, stageOf(fork, 's'), base);
    expect(conflicts).toEqual([]);
    expect(merged).toEqual(stageOf(fork, 's'));
  });
});

describe('merge of a newer process', () => {
  test('stages that the fork shares are renewed, forked ones merge, inserted ones stay', () => {
    const own = stage('own', [step('r', 'PLAN', 'all_to_one', 'r', ['seed:own/'])]);
    let fork = edit.overrideStep(shipped, 'thesis', 'thesis_generate_feature_spec', {
      name: 'Ours',
    });
    fork = withGate(edit.insertStage(fork, own, { after: 'synthesis' }), 'own');
    const newer = {
      ...shipped,
      name: 'Newer',
      stages: shipped.stages.map((one) => ({ ...one, description: 'Newer' })),
    };
    const { process: merged, conflicts } = mergeProcess(shipped, fork, newer);
    expect(conflicts).toEqual([]);
    expect(merged.name).toBe('Newer');
    expect(merged.stages.map((one) => one.key)).toEqual(fork.stages.map((one) => one.key));
    expect(stageOf(merged, 'antithesis')).toBe(stageOf(newer, 'antithesis'));
    expect(stageOf(merged, 'thesis').steps[2]).toMatchObject({ name: 'Ours' });
    expect(stageOf(merged, 'thesis').description).toBe('Newer');
    expect(merged.transitions).toContainEqual({ from: 'own', to: 'parenthesis', gate: true });
    expect(validateProcess(merged)).toEqual([]);
  });
});
