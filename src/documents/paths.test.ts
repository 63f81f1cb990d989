import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Author, constructPath, deconstructPath, type FileIdentity } from './paths.ts';

const place = { session: 'a1b2c3d4', iteration: 1, stageNumber: 1, stage: 'thesis' };
const author: Author = { model: 'gpt-5.1-mini', copy: 1 };
const work = { ...place, author, relation: null, attempt: 1, documentKey: 'business_case' };
const folder = 'session_a1b2c3d4/iteration_1/1_thesis';

const TREE: readonly (readonly [string, FileIdentity])[] = [
  ['project_readme.md', { kind: 'project_readme' }],
  ['project_settings.json', { kind: 'project_settings' }],
  ['bakery shop.md', { kind: 'user_prompt', name: 'bakery shop' }],
  ['%70roject_readme.md', { kind: 'user_prompt', name: 'project_readme' }],
  ['bakery.zip', { kind: 'export', name: 'bakery' }],
  [
    'general_resource/deployment_context.md',
    { kind: 'general_resource', name: 'deployment_context.md' },
  ],
  ['general_resource/refs/a.pdf', { kind: 'general_resource', name: 'refs/a.pdf' }],
  ['Pending/01_login.md', { kind: 'pending', name: '01_login.md' }],
  ['Current/01_login.md', { kind: 'current', name: '01_login.md' }],
  ['Complete/01_login.md', { kind: 'complete', name: '01_login.md' }],
  ['decide/plan.md', { kind: 'result', folder: 'decide', name: 'plan' }],
  ['%50ending/plan.md', { kind: 'result', folder: 'Pending', name: 'plan' }],
  ['session_a1b2c3d4/contents.md', { kind: 'contents', session: 'a1b2c3d4' }],
  [`${folder}/seed_prompt.md`, { kind: 'seed_prompt', ...place }],
  [`${folder}/user_feedback_thesis.md`, { kind: 'stage_feedback', ...place }],
  [`${folder}/gpt-5.1-mini_1_thesis.md`, { kind: 'contribution', ...work, documentKey: 'thesis' }],
  [
    `${folder}/documents/gpt-5.1-mini_1_business_case.md`,
    { kind: 'document', ...work, format: 'md' },
  ],
  [
    `${folder}/documents/gpt-5.1-mini_1_business_case_feedback.md`,
    { kind: 'document_feedback', ...work },
  ],
  [
    `${folder}/raw_responses/gpt-5.1-mini_1_business_case_raw.json`,
    { kind: 'raw_response', ...work, continuation: null },
  ],
  [
    `${folder}/raw_responses/gpt-5.1-mini_1_business_case_continuation_2_raw.json`,
    { kind: 'raw_response', ...work, continuation: 2 },
  ],
  [
    `${folder}/_work/gpt-5.1-mini_1_business_case_continuation_2.md`,
    { kind: 'continuation_chunk', ...work, continuation: 2 },
  ],
  [
    `${folder}/_work/prompts/gpt-5.1-mini_1_business_case_prompt.md`,
    { kind: 'prompt', ...work, continuation: null },
  ],
  [
    `${folder}/_work/context/gpt-5.1-mini+2_1_header_context.json`,
    {
      kind: 'header_context',
      ...work,
      author: { ...author, copy: 2 },
      documentKey: 'header_context',
    },
  ],
  [
    'session_a1b2c3d4/iteration_1/2_antithesis/gpt-5.1-mini_critiquing_claude_1_antithesis.md',
    {
      kind: 'contribution',
      ...work,
      stageNumber: 2,
      stage: 'antithesis',
      relation: { kind: 'critiquing', source: { model: 'claude', copy: 1 } },
      documentKey: 'antithesis',
    },
  ],
  [
    `${folder}/_work/gpt-5.1-mini_from_claude_and_gpt-5.1-mini+2_1_pairwise_synthesis_chunk.md`,
    {
      kind: 'intermediate',
      ...work,
      relation: {
        kind: 'from',
        sources: [
          { model: 'claude', copy: 1 },
          { model: 'gpt-5.1-mini', copy: 2 },
        ],
      },
      documentKey: 'pairwise_synthesis_chunk',
      format: 'md',
    },
  ],
  [
    `${folder}/_work/gpt-5.1-mini_reducing_0f9e8d7c_1_reduced_synthesis.md`,
    {
      kind: 'intermediate',
      ...work,
      relation: { kind: 'reducing', sourceId: '0f9e8d7c' },
      documentKey: 'reduced_synthesis',
      format: 'md',
    },
  ],
];

describe('the tree of a project', () => {
  test.each(TREE)('%s', (path, identity) => {
    expect(constructPath(identity)).toBe(path);
    expect(deconstructPath(path)).toEqual(identity);
  });

  test.each([
    'notes.txt',
    '/etc/passwd',
    'general_resource/../secret',
    'session_x/iteration_01/1_thesis/seed_prompt.md',
    'session_x/iteration_1/1_thesis/user_feedback_other.md',
    'session_x/iteration_1/1_thesis/nobody.md',
    'session_x/iteration_1/1_thesis/other/gpt_1_thesis.md',
    '%zz.md.bak',
    '',
  ])('refuses %j, which it would never write', (path) => {
    expect(() => deconstructPath(path)).toThrow(/not a path/);
  });

  test('names never leave the folder', () => {
    const path = constructPath({ kind: 'general_resource', name: '../../etc/passwd' });
    expect(path).toBe('general_resource/%2E%2E/%2E%2E/etc/passwd');
  });
});

const TRICKY =
  '_ __ . .. - + % %41 / \\ critiquing from and 1 _continuation_3 _raw _prompt _feedback con NUL 模型 é';
const tricky = fc.constantFrom(...TRICKY.split(' '), ' ', 'e\u0301', '\uD800');
const name = fc
  .array(
    fc.oneof(
      tricky,
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(''));
const number = fc.nat(9999);
const anyAuthor: fc.Arbitrary<Author> = fc.record({
  model: name,
  copy: fc.integer({ min: 1, max: 99 }),
});
const relation = fc.oneof(
  fc.constant(null),
  fc.record({ kind: fc.constant('critiquing' as const), source: anyAuthor }),
  fc.record({
    kind: fc.constant('from' as const),
    sources: fc.array(anyAuthor, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('reducing' as const), sourceId: name }),
);
const placeFields = { session: name, iteration: number, stageNumber: number, stage: name };
const workFields = {
  ...placeFields,
  author: anyAuthor,
  relation,
  attempt: number,
  documentKey: name,
};
const format = fc.constantFrom('md' as const, 'json' as const);

const anyIdentity: fc.Arbitrary<FileIdentity> = fc.oneof(
  fc.record({ kind: fc.constant('result' as const), folder: name, name }),
  fc.record({ kind: fc.constant('contents' as const), session: name }),
  fc.record({
    kind: fc.constantFrom(
      ...(['user_prompt', 'export', 'general_resource', 'pending', 'current', 'complete'] as const),
    ),
    name,
  }),
  fc.record({
    kind: fc.constantFrom('seed_prompt' as const, 'stage_feedback' as const),
    ...placeFields,
  }),
  fc.record({
    kind: fc.constantFrom(
      'contribution' as const,
      'header_context' as const,
      'document_feedback' as const,
    ),
    ...workFields,
  }),
  fc.record({
    kind: fc.constantFrom('document' as const, 'intermediate' as const),
    ...workFields,
    format,
  }),
  fc.record({
    kind: fc.constantFrom('raw_response' as const, 'prompt' as const),
    ...workFields,
    continuation: fc.option(number),
  }),
  fc.record({
    kind: fc.constant('continuation_chunk' as const),
    ...workFields,
    continuation: number,
  }),
);

describe('random identities', { timeout: 30_000 }, () => {
  test('ten thousand of them come back from their path exactly', () => {
    fc.assert(
      fc.property(anyIdentity, (identity) => {
        const path = constructPath(identity);
        fc.pre(!/~[0-9a-f]{10}/.test(path)); // what is shortened with a digest is known by it alone
        expect(deconstructPath(path)).toEqual(identity);
      }),
      { numRuns: 10_000 },
    );
  });

  test('every part of a path is a name that file systems take', () => {
    fc.assert(
      fc.property(anyIdentity, (identity) => {
        for (const part of constructPath(identity).split('/')) {
          expect(part).not.toMatch(/[\\:*?"<>|\p{Cc}]|^$|^\.|[. ]$/u);
          expect(part).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('names that are too long', () => {
  const long = 'é'.repeat(400);
  const model = `openrouter/${'vendor-'.repeat(40)}large`;
  const relation = {
    kind: 'from' as const,
    sources: [1, 2, 3].map((n) => ({ model: `${model}${n}`, copy: n })),
  };
  const places: readonly FileIdentity[] = [
    { kind: 'user_prompt', name: long },
    { kind: 'export', name: long },
    { kind: 'pending', name: `${long}.md` },
    { kind: 'general_resource', name: `${long}/${long}.md` },
    { kind: 'result', folder: long, name: long },
    { kind: 'seed_prompt', ...place, stage: long },
    { kind: 'stage_feedback', ...place, stage: long },
    { kind: 'document', ...work, author: { model, copy: 2 }, relation, format: 'md' },
    { kind: 'prompt', ...work, documentKey: long, relation, continuation: 12_345 },
    { kind: 'raw_response', ...work, author: { model, copy: 12 }, relation, continuation: 1 },
  ];

  test.each(places)('$kind fits into 255 bytes and is read back as it is', (identity) => {
    const path = constructPath(identity);
    for (const part of path.split('/')) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(255);
    expect(path.isWellFormed()).toBe(true);
    expect(constructPath(deconstructPath(path))).toBe(path);
    expect(deconstructPath(path).kind).toBe(identity.kind);
  });

  test('stay different, also where they differ only at their end', () => {
    const paths = ['a', 'b', '%'].map((end) =>
      constructPath({ kind: 'pending', name: `${long}${end}.md` }),
    );
    expect(new Set(paths).size).toBe(3);
    const names = [1, 2].map((n) =>
      constructPath({
        kind: 'document',
        ...work,
        author: { model: `${model}${n}`, copy: 1 },
        format: 'md',
      }),
    );
    expect(new Set(names).size).toBe(2);
  });
});
