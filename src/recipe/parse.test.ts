import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { parseProcess, parseStage } from './parse.ts';
import { processToFiles } from './serialise.ts';
import { checkProcess } from './validate.ts';

const edited = (path: string, from: string, to: string): Map<string, string> => {
  const files = documentedExample();
  const text = files.get(path)!;
  expect(text).toContain(from);
  return files.set(path, text.replace(from, to));
};

describe('parseProcess', () => {
  test('reads the documented example with its defaults', () => {
    const { value, issues } = parseProcess(documentedExample());
    expect(issues).toEqual([]);
    expect(value?.stages.map((stage) => stage.key)).toEqual(['propose', 'challenge']);
    expect(value?.transitions).toEqual([{ from: 'propose', to: 'challenge', gate: false }]);
    const judge = value!.stages[1]!.steps[0]!;
    expect(judge.inputs[1]).toEqual({
      name: 'feedback_proposal',
      type: 'feedback',
      stage: 'propose',
      documentKey: 'proposal',
      scope: 'all',
      iteration: 'current',
      multiple: false,
      required: false,
      relevance: 1,
      join: null,
    });
    expect(judge).toMatchObject({ dependencyPolicy: 'all', after: [], skip: false });
    expect(judge.continuation).toEqual({ maxTurns: 60, maxIdleTurns: 3, maxChars: 400_000 });
  });

  test('writes files that read back to an equal process', () => {
    const { value } = parseProcess(documentedExample());
    expect(parseProcess(processToFiles(value!)).value).toEqual(value);
  });

  test('reads what follows where citations stay wrong, and writes it back', () => {
    const step = '    prompt: prompts/judge.md\n';
    const read = (value: string) =>
      parseProcess(edited('challenge/stage.yaml', step, `${step}    on_unsupported: ${value}\n`));
    const { value } = read('other_lane');
    expect(value?.stages[1]?.steps[0]).toMatchObject({ onUnsupported: 'other_lane' });
    expect(parseProcess(processToFiles(value!)).value).toEqual(value);
    // What is the default changes no content hash.
    expect(read('mark').value).toEqual(parseProcess(documentedExample()).value);
    expect(read('other_model').issues).toMatchObject([{ field: 'steps[0].on_unsupported' }]);
  });

  test('takes a granularity that is absent as per_source_document', () => {
    const files = edited('challenge/stage.yaml', '    granularity: per_source_document\n', '');
    expect(parseProcess(files).value?.stages[1]?.steps[0]?.granularity).toBe('per_source_document');
  });

  test('refuses an unknown strategy and names file, line and field', () => {
    const files = edited('propose/stage.yaml', 'all_to_one', 'all_to_some');
    expect(parseProcess(files).issues).toMatchObject([
      {
        code: 'unknown_strategy',
        file: 'propose/stage.yaml',
        line: 9,
        field: 'steps[0].granularity',
      },
    ]);
  });

  test('reports the defects of all files at once', () => {
    const files = edited('propose/stage.yaml', 'name: Propose\n', 'nam: Propose\n');
    files.set('challenge/contracts/verdict.yaml', 'type: object\ntitle: V\nproperties: {}\n');
    files.set('challenge/stage.yaml', 'key: challenge\nkey: again\n');
    const { issues, value } = parseProcess(files);
    expect(value).toBeNull();
    expect(issues.map(({ code, file, line }) => [code, file, line])).toEqual([
      ['field_invalid', 'propose/stage.yaml', 1],
      ['field_invalid', 'propose/stage.yaml', 2],
      ['duplicate_key', 'challenge/stage.yaml', 2],
      ['field_invalid', 'challenge/contracts/verdict.yaml', 3],
    ]);
  });

  test('says which stage folder is missing', () => {
    const files = edited('process.yaml', '[propose, challenge]', '[propose, gone]');
    expect(parseProcess(files).issues).toMatchObject([
      { code: 'file_missing', file: 'gone/stage.yaml' },
    ]);
  });

  test('refuses a stage whose key is not its folder', () => {
    const files = edited('propose/stage.yaml', 'key: propose', 'key: other');
    expect(parseProcess(files).issues).toMatchObject([
      { code: 'field_invalid', file: 'propose/stage.yaml', line: 1, field: 'key' },
    ]);
  });

  test('random damage to any file never throws, and what is refused is located', () => {
    const files = documentedExample();
    const damage = fc.record({
      path: fc.constantFrom(...files.keys()),
      at: fc.nat(),
      remove: fc.nat(12),
      insert: fc.oneof(
        fc.string({ maxLength: 6 }),
        fc.constantFrom(
          '\n',
          '\t',
          ': ',
          '- ',
          '{{ x',
          '{% if',
          '&a ',
          '*a',
          '!!js ',
          '"',
          '__proto__: 1',
        ),
      ),
    });
    let refused = 0;
    fc.assert(
      fc.property(damage, ({ path, at, remove, insert }) => {
        const text = files.get(path)!;
        const start = at % text.length;
        const damaged = text.slice(0, start) + insert + text.slice(start + remove);
        const { issues } = checkProcess(new Map(files).set(path, damaged));
        if (issues.length > 0) refused += 1;
        for (const issue of issues) {
          expect(issue.file).not.toBe('');
          expect(issue.line).toBeGreaterThanOrEqual(1);
        }
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  test('refuses aliases that multiply and nesting without end', () => {
    const bomb = 'a: &a [x,x,x,x,x,x,x,x,x]\n'.concat(
      ...'bcdefgh'.split('').map((key, at) => {
        const source = 'abcdefg'.charAt(at);
        return `${key}: &${key} [${Array.from({ length: 9 }, () => `*${source}`).join(',')}]\n`;
      }),
    );
    for (const text of [bomb, '['.repeat(50_000)]) {
      const { issues } = parseProcess(documentedExample().set('process.yaml', text));
      expect(issues[0]).toMatchObject({ code: 'yaml_invalid', file: 'process.yaml' });
    }
  });

  test('survives text that is not YAML at all', () => {
    const files = documentedExample().set('process.yaml', '\t{: [');
    expect(parseProcess(files).issues[0]).toMatchObject({ code: 'yaml_invalid', line: 1 });
  });
});

test('parseStage reads a stage that stands on its own', () => {
  const files = new Map<string, string>();
  for (const [path, text] of documentedExample()) {
    if (path.startsWith('propose/')) files.set(path.slice('propose/'.length), text);
  }
  const { value, issues } = parseStage(files);
  expect(issues).toEqual([]);
  expect(Object.keys(value!.files)).toContain('prompts/proposal.md');
});
