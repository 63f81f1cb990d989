import { describe, expect, test } from 'vitest';
import { writeDocument } from './author.ts';
import { DOCUMENT_NOTICE } from './notice.ts';
import { BRIEF, buildRequest, contract, text, texts } from './request.fixture.ts';

const write = (...given: Parameters<typeof buildRequest>): Record<string, unknown> =>
  JSON.parse(writeDocument(buildRequest(...given), 'builder')) as Record<string, unknown>;

const count = (whole: string, part: string): number => whole.split(part).length - 1;

const PROPOSAL = contract({ summary: text, strengths: texts, risks: text, next_steps: text });
const PLAN_A = `# Plan\n\n## Summary\n\nMembers reserve a tool on the website first. A reminder goes
out by letter.`;
const PLAN_B = `# Plan\n\n## Summary\n\nVolunteers hand out tools within two minutes. Members reserve
a tool on the website by telephone until Stripe works.`;

describe('a proposal', () => {
  const request = buildRequest('thesis/proposal', PROPOSAL);

  test('is the same to the letter each time', () => {
    expect(writeDocument(request, 'skeptic')).toBe(writeDocument(request, 'skeptic'));
  });

  test('differs between personas in what it says', () => {
    const [builder, skeptic, steward] = (['builder', 'skeptic', 'steward'] as const).map((one) =>
      writeDocument(request, one),
    );
    expect(new Set([builder, skeptic, steward]).size).toBe(3);
    expect(builder).toMatch(/shortest useful slice|plainest form/);
    expect(skeptic).toMatch(/stands or falls|evidence|on purpose/i);
  });

  test('says once, in its first prose, that no language model wrote it', () => {
    const written = writeDocument(request, 'steward');
    expect(count(written, DOCUMENT_NOTICE)).toBe(1);
    const { summary } = JSON.parse(written) as { summary: string };
    expect(summary.startsWith(DOCUMENT_NOTICE)).toBe(true);
  });

  test('names what the brief names in every section', () => {
    const written = JSON.parse(writeDocument(request, 'builder')) as Record<string, unknown>;
    for (const section of Object.values(written)) {
      expect(JSON.stringify(section)).toMatch(/tool|loan|member|Stripe|deposit|reminder|euros|EU/i);
    }
  });

  test('puts the notice into a list where the contract has no prose', () => {
    const written = write('thesis/points', contract({ score: { type: 'integer' }, points: texts }));
    expect((written['points'] as string[])[0]).toBe(DOCUMENT_NOTICE);
  });
});

describe('a critique', () => {
  const parts = [{ key: 'plan', label: 'Plan', text: PLAN_A }];
  const schema = contract({ weaknesses: texts, omissions: texts });

  test('quotes what the proposal says and where it says it', () => {
    const { weaknesses } = write('antithesis/plan_critique', schema, { parts });
    expect(JSON.stringify(weaknesses)).toContain(
      '“Members reserve a tool on the website first” (Plan)',
    );
  });

  test('lists the requirements that the proposal leaves out', () => {
    const { omissions } = write('antithesis/plan_critique', schema, { parts });
    const all = (omissions as string[]).join('\n');
    expect(all).toMatch(/Not taken up: R\d+, “The budget is 4,000 euros”/);
    expect(all).not.toMatch(/Not taken up: R\d+, “Members must be able to reserve/);
  });

  test('scores by what it counts, and says what it counted', () => {
    const dimension = contract({
      score: { type: 'integer', minimum: 1, maximum: 5 },
      rationale: text,
    });
    const scored = contract({ dimensions: contract({ cost: dimension, usability: dimension }) });
    const { dimensions } = write('antithesis/vector', scored, { parts });
    const { cost, usability } = dimensions as Record<string, { score: number; rationale: string }>;
    expect(cost).toMatchObject({ score: 1 });
    expect(cost?.rationale).toContain('None of the 2 statements of Plan speaks of cost.');
    expect(usability!.score).toBeGreaterThanOrEqual(1);
  });
});

describe('a synthesis', () => {
  const parts = [
    { key: 'plan', label: 'Plan A', text: PLAN_A },
    { key: 'plan', label: 'Plan B', text: PLAN_B },
  ];

  test('keeps what both inputs said and tells where they differ', () => {
    const { summary } = write('synthesis/merged', contract({ summary: text }), { parts });
    expect(summary).toContain('A reminder goes out by letter.');
    expect(summary).toContain('Volunteers hand out tools within two minutes.');
    expect(summary).toMatch(
      /They differ here: Plan A says “Members reserve .+”, while Plan B says/,
    );
  });

  test('carries named records on, with their fields, once', () => {
    const feature = { feature_name: 'Reservation', goal: 'Members book ahead.', risk: 'None.' };
    const features = (extra: object[]) => JSON.stringify({ features: [feature, ...extra] });
    const more = { feature_name: 'Reminder', goal: 'Loans end in time.', risk: 'Mail is lost.' };
    const schema = contract({
      features: { type: 'array', items: contract({ feature_name: text, goal: text }) },
    });
    const given = [
      { key: 'spec', label: 'A', text: features([]) },
      { key: 'spec', label: 'B', text: features([more]) },
    ];
    const { features: merged } = write('synthesis/spec', schema, { parts: given });
    expect(merged).toEqual([
      { feature_name: 'Reservation', goal: 'Members book ahead.' },
      { feature_name: 'Reminder', goal: 'Loans end in time.' },
    ]);
  });

  test('ranks the options that it was given, each once, the best first, with the reason', () => {
    const ranking = contract({ rank: { type: 'integer' }, option_id: text, why: text });
    const schema = contract({ rankings: { type: 'array', items: ranking, minItems: 1 } });
    const { rankings } = write('paralysis/advice', schema, { parts });
    const rows = rankings as { rank: number; option_id: string; why: string }[];
    expect(rows.map((row) => row.rank)).toEqual([1, 2]);
    expect(rows.map((row) => row.option_id).toSorted()).toEqual(['Plan A', 'Plan B']);
    expect(rows[0]!.why).toMatch(/Score [\d.]+ of 10\. Takes up \d+ of the \d+ requirements/);
  });

  test.each([2, 3, 11])(
    'ranks %i plans by their labels, among messages of other kinds',
    (count) => {
      const ranking = contract({ rank: { type: 'integer' }, option_id: text, why: text });
      const schema = contract({ rankings: { type: 'array', items: ranking, minItems: 1 } });
      const labels = Array.from({ length: count }, (_, at) => `Plan ${'ABCDEFGHIJK'[at]}`);
      const plans = labels.map((label) => ({ ...parts[0]!, key: 'plan', label }));
      const request = buildRequest('paralysis/advice', schema, { parts: plans });
      const [brief, documents, ...rest] = request.messages;
      const setting = {
        role: 'user' as const,
        content: '# Implementation: bakery\n\nThe plan exists.',
      };
      const headed = { role: 'user' as const, content: `# Documents\n\n${documents!.content}` };
      const messages = [brief!, setting, headed, ...rest];
      const { rankings } = JSON.parse(writeDocument({ ...request, messages }, 'builder')) as {
        rankings: { option_id: string }[];
      };
      expect(rankings.map((row) => row.option_id).toSorted()).toEqual(labels.toSorted());
    },
  );
});

describe('a plan', () => {
  const milestone = contract({
    id: text,
    title: text,
    status: text,
    requirements: texts,
    deps: texts,
  });
  const schema = contract({ milestones: { type: 'array', items: milestone, minItems: 1 } });
  type Milestone = { id: string; title: string; requirements: string[]; deps: string[] };

  test('traces its work to the requirements of the brief, and leaves none out', () => {
    const { milestones } = write('parenthesis/plan', schema);
    const rows = milestones as Milestone[];
    expect(rows.every((row) => row.requirements.every((one) => /^R\d+: /.test(one)))).toBe(true);
    const traced = new Set(rows.flatMap((row) => row.requirements.map((one) => one.split(':')[0])));
    expect(traced.size).toBeGreaterThanOrEqual(8);
    expect(rows[1]!.deps).toEqual([rows[0]!.id]);
  });

  test('carries ids of the inputs on, and ids that the brief gives itself', () => {
    const before = JSON.stringify({ milestones: [{ id: 'M7', title: 'Open the counter' }] });
    const parts = [{ key: 'plan', label: 'Plan', text: before }];
    const carried = write('parenthesis/schema', schema, { parts })['milestones'] as Milestone[];
    expect(carried).toMatchObject([{ id: 'M7', title: 'Open the counter' }]);
    const brief = 'REQ-4 Members must log in. REQ-9 Staff must log out.';
    const own = write('parenthesis/plan', schema, { brief })['milestones'] as Milestone[];
    expect(JSON.stringify(own)).toMatch(/REQ-4: .*REQ-9: /);
  });
});

describe('a header', () => {
  test('guides each document that the prompt names, section by section', () => {
    const entry = contract({ document_key: text, content_to_include: { type: 'object' } });
    const schema = contract({
      system_materials: contract({ stage_rationale: text }),
      context_for_documents: { type: 'array', items: entry, minItems: 1 },
    });
    const prompt = `### \`case\`: The case\n\n- \`summary\` (string): In short.\n
- \`risks\` (array of string): What may fail.\n\n### \`spec\`: The spec\n\n- \`scope\` (string): All.`;
    const { context_for_documents } = write('thesis/header_context', schema, { prompt });
    const entries = context_for_documents as { document_key: string; content_to_include: object }[];
    expect(entries.map((one) => one.document_key)).toEqual(['case', 'spec']);
    const [first] = entries as unknown as [
      { content_to_include: { summary: string; risks: string[] } },
    ];
    expect(first.content_to_include.summary).not.toBe('');
    expect(first.content_to_include.risks.length).toBeGreaterThan(0);
  });
});

test('feedback of people comes first in the section that it speaks to', () => {
  const parts = [{ key: 'plan', label: 'Note', tag: 'feedback', text: 'Drop the Stripe deposit.' }];
  const written = write('thesis/proposal', contract({ scope: text }), { parts });
  expect(written['scope']).toContain('Drop the Stripe deposit.');
});

test.each([
  ['Chinese', '我们需要一个预约系统。居民可以用手机预约图书。系统必须在十分钟内通知读者。'],
  ['Arabic', 'نحتاج إلى تطبيق لإدارة المواعيد. يجب أن يتمكن المرضى من حجز المواعيد.'],
  ['Thai', 'เราต้องการระบบจองห้องประชุม พนักงานจองผ่านมือถือได้'],
  ['German', 'Wir brauchen ein Buchungssystem. Gäste müssen online zahlen können.'],
])('a brief in %s fills every section with its own words', (_language, brief) => {
  const written = write('thesis/proposal', PROPOSAL, { brief });
  const words = brief.slice(0, 6);
  expect(JSON.stringify(written)).toContain(words);
  expect(Object.values(written).every((section) => JSON.stringify(section).length > 8)).toBe(true);
});

test('a request without tags and without a schema still gives a document on its subject', () => {
  const messages = [{ role: 'user' as const, content: `${BRIEF}\n\nDeliverable: memo/memo` }];
  const written = writeDocument({ model: 'offline/builder', system: '', messages }, 'builder');
  expect(JSON.parse(written)).toMatchObject({ summary: expect.stringContaining('tool') });
});
