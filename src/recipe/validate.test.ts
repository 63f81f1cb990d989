import { describe, expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { DialecticError } from '../errors/errors.ts';
import type { IssueCode } from './types.ts';
import { checkLoneStage, checkProcess, loadProcess, validateProcess } from './validate.ts';

type Change = readonly [file: string, from: string, to: string];
type Defect = {
  readonly title: string;
  readonly changes: readonly Change[];
  readonly issue: readonly [IssueCode, file: string, line: number, field: string];
};

const CHALLENGE = 'challenge/stage.yaml';
const PROPOSE = 'propose/stage.yaml';
const JUDGEMENT = '{ type: contribution, document_key: judgement, multiple: true }';
const COLLECTED = 'compute: collect\n    on_unsupported: other_lane';
const SEED = '      - type: seed_prompt\n';
const PREVIOUS =
  '      - { type: document, document_key: proposal, iteration: previous, required: false }\n';

const DEFECTS: readonly Defect[] = [
  {
    title: 'a cycle',
    changes: [
      [
        CHALLENGE,
        'required: false }',
        `required: false }\n      - { type: document, document_key: verdict }`,
      ],
    ],
    issue: ['cycle', CHALLENGE, 21, 'steps[1].inputs'],
  },
  {
    title: 'a step that reads its own output',
    changes: [[CHALLENGE, JUDGEMENT, '{ type: document, document_key: verdict }']],
    issue: ['cycle', CHALLENGE, 20, 'steps[1].inputs'],
  },
  {
    title: 'other evidence for a document that no model writes',
    changes: [[CHALLENGE, 'prompt: prompts/decide.md', COLLECTED]],
    issue: ['field_invalid', CHALLENGE, 20, 'steps[1].on_unsupported'],
  },
  {
    title: 'an input that nobody makes',
    changes: [[CHALLENGE, 'document_key: judgement, multiple', 'document_key: gone, multiple']],
    issue: ['missing_producer', CHALLENGE, 21, 'steps[1].inputs[0].document_key'],
  },
  {
    title: 'an input of a stage that does not exist',
    changes: [[PROPOSE, SEED, '      - { type: document, stage: gone, document_key: x }\n']],
    issue: ['missing_producer', PROPOSE, 12, 'steps[0].inputs[0].stage'],
  },
  {
    title: 'a seed prompt that the stage does not have',
    changes: [[CHALLENGE, `      - ${JUDGEMENT}`, `      - ${JUDGEMENT}\n${SEED}`]],
    issue: ['missing_producer', CHALLENGE, 22, 'steps[1].inputs[1]'],
  },
  {
    title: 'an input that a later stage makes',
    changes: [
      [
        PROPOSE,
        SEED,
        `${SEED}      - { type: document, stage: challenge, document_key: verdict }\n`,
      ],
    ],
    issue: ['never_produced', PROPOSE, 13, 'steps[0].inputs[1].stage'],
  },
  {
    title: 'a required input of the previous iteration',
    changes: [[CHALLENGE, 'multiple: true }', 'multiple: true, iteration: previous }']],
    issue: ['never_produced', CHALLENGE, 21, 'steps[1].inputs[0].required'],
  },
  {
    title: 'feedback on the stage that is running',
    changes: [[CHALLENGE, JUDGEMENT, `${JUDGEMENT}\n      - { type: feedback, required: false }`]],
    issue: ['never_produced', CHALLENGE, 22, 'steps[1].inputs[1].stage'],
  },
  {
    title: 'an unknown strategy',
    changes: [[CHALLENGE, 'granularity: all_to_one', 'granularity: one_to_all']],
    issue: ['unknown_strategy', CHALLENGE, 18, 'steps[1].granularity'],
  },
  {
    title: 'two steps with one key',
    changes: [[CHALLENGE, 'key: decide', 'key: judge']],
    issue: ['duplicate_key', CHALLENGE, 15, 'steps[1].key'],
  },
  {
    title: 'two steps that make one document',
    changes: [[CHALLENGE, 'document_key: verdict', 'document_key: judgement']],
    issue: ['duplicate_key', CHALLENGE, 24, 'steps[1].output.document_key'],
  },
  {
    title: 'two inputs with one name',
    changes: [
      [CHALLENGE, JUDGEMENT, `${JUDGEMENT}\n      - { type: document, document_key: judgement }`],
    ],
    issue: ['duplicate_key', CHALLENGE, 22, 'steps[1].inputs[1]'],
  },
  {
    title: 'a stage that is listed twice',
    changes: [['process.yaml', '[propose, challenge]', '[propose, challenge, propose]']],
    issue: ['duplicate_key', 'process.yaml', 10, 'stages[2]'],
  },
  {
    title: 'a tie between anchors',
    changes: [
      [
        CHALLENGE,
        'scope: all }\n',
        'scope: all }\n      - { type: contribution, name: again, stage: propose, document_key: proposal, scope: all }\n',
      ],
    ],
    issue: ['anchor_tie', CHALLENGE, 13, 'steps[0].inputs[1].relevance'],
  },
  {
    title: 'a document that nothing can be the anchor of',
    changes: [[PROPOSE, PREVIOUS, '']],
    issue: ['anchor_missing', PROPOSE, 11, 'steps[0].inputs'],
  },
  {
    title: 'a fan-out with no driver',
    changes: [[PROPOSE, 'all_to_one', 'per_source_document']],
    issue: ['driver_invalid', PROPOSE, 6, 'steps[0].for_each'],
  },
  {
    title: 'a driver that is not an input',
    changes: [[CHALLENGE, 'for_each: proposal', 'for_each: gone']],
    issue: ['driver_invalid', CHALLENGE, 9, 'steps[0].for_each'],
  },
  {
    title: 'pairs without answers',
    changes: [[CHALLENGE, 'granularity: per_source_document', 'granularity: pairwise_by_origin']],
    issue: ['driver_invalid', CHALLENGE, 11, 'steps[0].inputs'],
  },
  {
    title: 'a prompt file that is missing',
    changes: [[CHALLENGE, 'prompts/decide.md', 'prompts/gone.md']],
    issue: ['file_missing', CHALLENGE, 19, 'steps[1].prompt'],
  },
  {
    title: 'a contract file that is missing',
    changes: [[CHALLENGE, 'contracts/verdict.yaml', 'contracts/gone.yaml']],
    issue: ['file_missing', CHALLENGE, 25, 'steps[1].output.contract'],
  },
  {
    title: 'a prompt variable that does not exist',
    changes: [['challenge/prompts/decide.md', 'inputs.judgement.size', 'inputs.judgment.size']],
    issue: ['prompt_variable_unknown', 'challenge/prompts/decide.md', 1, 'inputs.judgment'],
  },
  {
    title: 'an unknown field of a loop variable in a prompt',
    changes: [['propose/prompts/proposal.md', 'section.description', 'section.text']],
    issue: [
      'prompt_variable_unknown',
      'propose/prompts/proposal.md',
      3,
      'document.sections[].text',
    ],
  },
  {
    title: 'a prompt that does not parse',
    changes: [['propose/prompts/proposal.md', '{%- endfor %}', '']],
    issue: ['prompt_invalid', 'propose/prompts/proposal.md', 2, ''],
  },
  {
    title: 'an included text that does not exist',
    changes: [['propose/prompts/seed.md', 'The request:', "{% render 'shared/gone.md' %}"]],
    issue: ['prompt_invalid', 'propose/prompts/seed.md', 1, ''],
  },
  {
    title: 'a step variable in a seed prompt',
    changes: [['propose/prompts/seed.md', 'user_request', 'step.key']],
    issue: ['prompt_variable_unknown', 'propose/prompts/seed.md', 3, 'step'],
  },
  {
    title: 'a template field that is not in the contract',
    changes: [
      [
        'challenge/templates/verdict.md',
        '{{ content.decision',
        '{{ content.x }} {{ content.decision',
      ],
    ],
    issue: ['template_field_unknown', 'challenge/templates/verdict.md', 3, 'content.x'],
  },
  {
    title: 'a contract field without a place',
    changes: [['challenge/templates/verdict.md', '{{ content.open_questions | markdown }}', '']],
    issue: [
      'contract_field_unplaced',
      'challenge/contracts/verdict.yaml',
      6,
      'properties.open_questions',
    ],
  },
  {
    title: 'a field of a record without a place',
    changes: [['propose/templates/proposal.md', '{{ option.why | markdown }}', '']],
    issue: [
      'contract_field_unplaced',
      'propose/contracts/proposal.yaml',
      18,
      'properties.options.items.properties.why',
    ],
  },
  {
    title: 'a required section that the contract does not describe',
    changes: [['challenge/contracts/verdict.yaml', '[decision]', '[decision, gone]']],
    issue: ['field_invalid', 'challenge/contracts/verdict.yaml', 3, 'required[1]'],
  },
  {
    title: 'records for code in something that is no list of records',
    changes: [
      ['challenge/contracts/verdict.yaml', 'to do, x-cites: true', 'to do, x-records: demands'],
    ],
    issue: [
      'field_invalid',
      'challenge/contracts/verdict.yaml',
      5,
      'properties.decision.x-records',
    ],
  },
  {
    title: 'a header made by an EXECUTE step',
    changes: [[PROPOSE, 'kind: document', 'kind: header_context']],
    issue: ['field_invalid', PROPOSE, 15, 'steps[0].output.kind'],
  },
  {
    title: 'a result that nobody makes',
    changes: [['process.yaml', 'document_key: verdict', 'document_key: gone']],
    issue: ['reference_unknown', 'process.yaml', 12, 'results[0].document_key'],
  },
  {
    title: 'a transition that skips a stage',
    changes: [
      ['process.yaml', 'results:', 'transitions: [{ from: challenge, to: propose }]\nresults:'],
    ],
    issue: ['transition_invalid', 'process.yaml', 11, 'transitions'],
  },
  {
    title: 'a lone writer after a stage that does not exist',
    changes: [['process.yaml', 'results:', 'writer_after: gone\nresults:']],
    issue: ['reference_unknown', 'process.yaml', 11, 'writer_after'],
  },
  {
    title: 'a lone writer after the last stage',
    changes: [['process.yaml', 'results:', 'writer_after: challenge\nresults:']],
    issue: ['transition_invalid', 'process.yaml', 11, 'writer_after'],
  },
  {
    title: 'work items that are no list of records',
    changes: [['process.yaml', 'results:', `${workItems('options.name', 'name')}\nresults:`]],
    issue: ['reference_unknown', 'process.yaml', 11, 'work_items[0].items'],
  },
  {
    title: 'a field that work items do not have',
    changes: [['process.yaml', 'results:', `${workItems('options', 'gone')}\nresults:`]],
    issue: ['reference_unknown', 'process.yaml', 11, 'work_items[0].title'],
  },
];

function workItems(items: string, title: string): string {
  const document = 'stage: propose, document_key: proposal';
  return `work_items: [{ ${document}, items: ${items}, id: name, title: ${title} }]`;
}

function changed(changes: readonly Change[]): Map<string, string> {
  const files = documentedExample();
  for (const [file, from, to] of changes) {
    const text = files.get(file)!;
    expect(text).toContain(from);
    files.set(file, text.replace(from, to));
  }
  return files;
}

describe('validation', () => {
  test('accepts the documented example', () => {
    expect(checkProcess(documentedExample()).issues).toEqual([]);
  });

  test.each(DEFECTS)('locates $title', ({ changes, issue }) => {
    const { issues, value } = checkProcess(changed(changes));
    const found = issues.map(({ code, file, line, field }) => [code, file, line, field]);
    expect(found).toContainEqual(issue);
    expect(value).toBeNull();
  });

  test('reports every defect, not only the first', () => {
    const files = changed([
      [CHALLENGE, 'for_each: proposal', 'for_each: gone'],
      ['challenge/prompts/decide.md', 'inputs.judgement.size', 'nothing'],
    ]);
    expect(checkProcess(files).issues.map((issue) => issue.code)).toEqual([
      'driver_invalid',
      'prompt_variable_unknown',
    ]);
  });

  test('work items may lie in lists within lists', () => {
    const files = changed([
      ['process.yaml', 'results:', `${workItems('options.parts', 'name')}\nresults:`],
      [
        'propose/contracts/proposal.yaml',
        'name: { type: string }',
        'parts: { type: array, items: { type: object, properties: { name: { type: string } } } }\n' +
          '        name: { type: string }',
      ],
      [
        'propose/templates/proposal.md',
        '{{ option.why',
        '{{ option.parts | markdown }} {{ option.why',
      ],
    ]);
    expect(checkProcess(files).issues).toEqual([]);
  });

  test('a stage that does not parse hides no defect of the others', () => {
    const files = changed([
      [PROPOSE, 'key: propose', 'key: [propose'],
      ['challenge/prompts/decide.md', 'inputs.judgement.size', 'nothing'],
      [CHALLENGE, 'document_key: judgement, multiple', 'document_key: gone, multiple'],
    ]);
    const { issues, value } = checkProcess(files);
    expect(value).toBeNull();
    const found = new Set(issues.map(({ code, file }) => `${code} ${file}`));
    expect(found).toEqual(
      new Set([
        `yaml_invalid ${PROPOSE}`,
        `missing_producer ${CHALLENGE}`,
        'prompt_variable_unknown challenge/prompts/decide.md',
      ]),
    );
  });

  test.each([PROPOSE, 'propose/contracts/proposal.yaml', CHALLENGE])(
    'when only %s does not parse, nothing else is blamed',
    (file) => {
      const { issues } = checkProcess(documentedExample().set(file, 'key: [x'));
      expect(new Set(issues.map((issue) => issue.file))).toEqual(new Set([file]));
    },
  );

  test('refuses to load a broken recipe and names the first place in the message', () => {
    const files = changed([[CHALLENGE, 'for_each: proposal', 'for_each: gone']]);
    const load = () => loadProcess(files);
    expect(load).toThrow(DialecticError);
    expect(load).toThrow(/^challenge\/stage\.yaml:9: step judge: for_each names gone/);
  });

  test('a skipped step needs nothing and makes nothing', () => {
    const skipped = changed([[CHALLENGE, 'key: judge\n', 'key: judge\n    skip: true\n']]);
    expect(checkProcess(skipped).issues.map((issue) => issue.code)).toEqual(['missing_producer']);
    const optional = changed([
      [CHALLENGE, 'key: judge\n', 'key: judge\n    skip: true\n'],
      [CHALLENGE, 'multiple: true }', 'multiple: true, required: false }'],
    ]);
    expect(checkProcess(optional).issues).toEqual([]);
  });

  test('locates defects of a process that has no files yet', () => {
    const process = loadProcess(documentedExample());
    const broken = {
      ...process,
      results: [{ stage: 'challenge', documentKey: 'gone', folder: null }],
    };
    expect(validateProcess(broken)).toMatchObject([
      { code: 'reference_unknown', file: 'process.yaml', field: 'results[0].document_key' },
    ]);
    expect(validateProcess(broken)[0]?.line).toBeGreaterThan(1);
  });

  test('checks a stage that stands on its own', () => {
    const files = new Map<string, string>();
    for (const [path, text] of documentedExample()) {
      if (path.startsWith('propose/')) files.set(path.slice('propose/'.length), text);
    }
    expect(checkLoneStage(files).value?.key).toBe('propose');
    files.set('prompts/proposal.md', '{{ nothing }}');
    expect(checkLoneStage(files).issues).toMatchObject([
      { code: 'prompt_variable_unknown', file: 'prompts/proposal.md', line: 1 },
    ]);
  });
});

test('a contract that would take seconds to compile is refused', () => {
  const path = 'challenge/contracts/verdict.yaml';
  const many = Array.from({ length: 1001 }, (_, at) => `  p${at}: { type: string }\n`).join('');
  const files = documentedExample();
  files.set(path, `${files.get(path)!.trimEnd()}\n${many}`);
  const { issues } = checkProcess(files);
  expect(issues.find(({ code }) => code === 'field_invalid')).toMatchObject({
    file: path,
    line: 4,
  });
});
