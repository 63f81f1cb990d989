import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../types.ts';
import { writeDocument } from './author.ts';
import { noticeOf } from './notice.ts';
import { PERSONA_NAMES } from './personas.ts';
import { BRIEF, buildRequest, contract, text, texts } from './request.fixture.ts';

const write = (...given: Parameters<typeof buildRequest>): Record<string, unknown> =>
  JSON.parse(writeDocument(buildRequest(...given), 'builder')) as Record<string, unknown>;

const describedAs = (description: string): JsonSchema => ({ ...text, description });
const listOf = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'array',
  items: contract(properties),
  minItems: 1,
});
const count = (whole: string, part: string): number => whole.split(part).length - 1;

const PROPOSAL = contract({ summary: text, strengths: texts, risks: text, next_steps: text });
const PLAN_A = `# Plan\n\n## Summary\n\nMembers reserve a tool on the website first. A reminder goes
out by letter.`;
const PLAN_B = `# Plan\n\n## Summary\n\nVolunteers hand out tools within two minutes. A test must
show that no data is lost.`;
const PLANS = [
  { key: 'plan', label: 'Plan A', text: PLAN_A },
  { key: 'plan', label: 'Plan B', text: PLAN_B },
];

describe('a document', () => {
  const request = buildRequest('thesis/proposal', PROPOSAL);

  test('is the same to the letter each time', () => {
    expect(writeDocument(request, 'skeptic')).toBe(writeDocument(request, 'skeptic'));
  });

  test('differs between personas, also in which sentence comes first', () => {
    const written = PERSONA_NAMES.map((name) => writeDocument(request, name));
    expect(new Set(written).size).toBe(3);
    const first = PERSONA_NAMES.map((name, at) =>
      (JSON.parse(written[at]!) as { summary: string }).summary.replace(noticeOf(name, []), ''),
    );
    expect(new Set(first).size).toBe(3);
  });

  test('is made of sentences of the brief, all of them in their own words', () => {
    const { summary, ...rest } = write('thesis/proposal', PROPOSAL);
    const said = [(summary as string).replace(noticeOf('builder', []), ''), ...Object.values(rest)];
    const brief = BRIEF.replaceAll('\n', ' ');
    for (const sentence of said.flat().flatMap((one) => (one as string).split(/(?<=[.…]) /))) {
      expect(brief).toContain(sentence.trim().replace(/…$/, '').trim());
    }
  });

  test('takes what it is given in turns, and what people said first', () => {
    const feedback = { key: 'plan', label: 'Note', tag: 'feedback', text: 'Drop the deposit now.' };
    const { summary, points } = write(
      'synthesis/merged',
      contract({ summary: text, points: texts }),
      {
        parts: [...PLANS, feedback],
      },
    );
    expect(summary).toContain('Drop the deposit now.');
    const all = JSON.stringify([summary, points]);
    expect(all).toContain('Members reserve a tool on the website first.');
    expect(all).toContain('A test must show that no data is lost.');
  });

  test('takes what people answered without the question', () => {
    const said = 'Question: Who pays?\nAnswer: The city pays for it all.';
    const answer = { key: '', label: 'Answer', tag: 'feedback', text: said };
    const { summary } = write('x/y', contract({ summary: text }), { parts: [answer] });
    expect(summary).toMatch(/ first\. The city pays for it all\./);
  });

  test('never repeats instructions: neither the prompt nor what stands around the data', () => {
    const { messages, ...rest } = buildRequest('thesis/proposal', PROPOSAL, {
      prompt: '## How to proceed\n\nWeigh every risk twice before you answer anything here.',
    });
    const setting = 'The participants must ship one simple proposal first, and risk nothing.';
    const around = { role: 'user' as const, content: `# Proposal\n\n${setting}` };
    const [brief, ...others] = messages;
    const all = [brief!, around, ...others];
    for (const name of PERSONA_NAMES) {
      const written = writeDocument({ ...rest, messages: all }, name);
      expect(written).not.toMatch(/participants must|Weigh every|Write the document/);
    }
  });

  test('is the same whatever the stage and the document are called', () => {
    const named = ['antithesis/critique', 'paralysis/risk_register', 'x/y'].map((name) =>
      writeDocument(buildRequest(name, PROPOSAL, { parts: PLANS }), 'builder'),
    );
    expect(new Set(named).size).toBe(1);
  });
});

describe('the notice', () => {
  test('stands once, in the first prose', () => {
    const items = listOf({ id: text, claim: text });
    const schema = contract({ items, summary: text, risks: text });
    const written = writeDocument(buildRequest('thesis/proposal', schema), 'steward');
    expect(count(written, noticeOf('steward', []))).toBe(1);
    const { summary } = JSON.parse(written) as { summary: string };
    expect(summary.startsWith(noticeOf('steward', []))).toBe(true);
  });

  test('stands in a list where there is no prose, and never in a label', () => {
    const listed = write('x/points', contract({ score: { type: 'integer' }, points: texts }));
    expect((listed['points'] as string[])[0]).toContain(noticeOf('builder', []));
    const ballot = contract({
      rankings: listOf({ rank: { type: 'integer' }, option_id: text, why: text }),
    });
    const { rankings } = write('x/ballot', ballot, { parts: PLANS });
    const [first] = rankings as { why: string; option_id: string }[];
    expect(first!.why).toContain('request, Plan A, Plan B, with');
    expect(first!.option_id).not.toContain('language model');
  });

  test('names an input, so that a document never is the same as what it was made of', () => {
    const [schema, brief] = [contract({ text }), 'A web shop for a bakery.'];
    const before = write('a/b', schema, { brief });
    const parts = [{ key: 'b', label: 'Memo 1.5', text: before['text'] as string }];
    const after = write('c/d', schema, { brief, parts });
    expect(after).not.toEqual(before);
    expect(after['text']).toMatch(/from the request, Memo 15, with .* first\. A web shop/);
  });

  test('of an input is not carried on', () => {
    const before = writeDocument(buildRequest('thesis/proposal', PROPOSAL), 'skeptic');
    const parts = [{ key: 'plan', label: 'Plan', text: before }];
    const after = JSON.stringify(write('synthesis/merged', PROPOSAL, { parts }));
    expect(count(after, 'No language model wrote')).toBe(1);
    expect(after).not.toContain(noticeOf('skeptic', []));
  });
});

describe('a ballot', () => {
  const ranking = { rank: { type: 'integer' }, option_id: text, why: text };
  const schema = contract({ rankings: listOf(ranking) });
  type Row = { readonly rank: number; readonly option_id: string; readonly why: string };

  test.each([2, 3, 11])('ranks each of %i plans once, by its label', (size) => {
    const labels = Array.from({ length: size }, (_, at) => `Plan ${'ABCDEFGHIJK'[at]}`);
    const plans = labels.map((label, at) => ({ ...PLANS[at % 2]!, label }));
    const other = { key: 'demands', label: 'What was asked for', text: 'Two people ask for it.' };
    const given = { parts: [other, ...plans], prompt: '# Documents' };
    const { rankings } = write('paralysis/advice', schema, given);
    const rows = rankings as Row[];
    expect(rows.map((row) => row.rank)).toEqual(labels.map((_, at) => at + 1));
    expect(rows.map((row) => row.option_id).toSorted()).toEqual(labels);
  });

  test('may differ between personas, and gives words of the plan as the reason', () => {
    const request = buildRequest('paralysis/advice', schema, { parts: PLANS });
    const rows = PERSONA_NAMES.map(
      (name) => (JSON.parse(writeDocument(request, name)) as { rankings: Row[] }).rankings,
    );
    expect(new Set(rows.map(([first]) => first!.option_id)).size).toBe(2);
    for (const { option_id, why } of rows.map((all) => all[1]!)) {
      const plan = PLANS.find(({ label }) => label === option_id)!;
      expect(plan.text.replaceAll('\n', ' ')).toContain(why);
    }
  });

  test('finds the field for the label by what the contract says of it', () => {
    const field = describedAs('The label of the plan, as given.');
    const matrix = contract({ matrix: listOf({ id: field, preferred: { type: 'boolean' } }) });
    const rows = write('x/y', matrix, { parts: PLANS })['matrix'] as { id: string }[];
    expect(rows.map(({ id }) => id).toSorted()).toEqual(['Plan A', 'Plan B']);
    expect(rows).toMatchObject([{ preferred: true }, { preferred: false }]);
  });
});

describe('records', () => {
  const id = describedAs('D1, D2 and so on.');
  const demands = listOf({ id, text });
  type Item = { readonly id: string; readonly demands: string[]; readonly needs: string[] };

  test('with an id say the same under that id in every document', () => {
    const of = (name: string, parts: typeof PLANS) =>
      JSON.parse(
        writeDocument(
          buildRequest(name, contract({ summary: text, demands }), { parts }),
          name === 'a/b' ? 'skeptic' : 'steward',
        ),
      ) as { demands: { id: string; text: string }[] };
    const [one, two] = [of('a/b', []), of('c/d', PLANS)];
    expect(one.demands.map((demand) => demand.id)).toEqual(['D1', 'D2']);
    expect(one.demands).toEqual(two.demands);
    expect(one.demands[0]!.text).not.toBe(one.demands[1]!.text);
  });

  test('refer to ids that the inputs have, and to records before them', () => {
    const ids = (of: string): JsonSchema => ({ ...texts, description: `Ids of ${of} it serves.` });
    const item = { id: text, demands: ids('the demands'), needs: ids('items') };
    const given = '| Id | Text |\n| --- | --- |\n| D1 | One |\n| D2 | Two |\n\n**F7** is heavy.';
    const parts = [{ key: 'demands', label: 'Asked', text: given }];
    const schema = contract({
      work: listOf(item),
      decisions: listOf({ finding: describedAs('Its id, or several.') }),
    });
    const written = write('x/y', schema, { parts });
    const [first, second] = written['work'] as Item[];
    expect(first).toEqual({ id: 'W1', demands: ['D1', 'D2'], needs: [] });
    expect(second).toEqual({ id: 'W2', demands: ['D1', 'D2'], needs: ['W1'] });
    expect(written['decisions']).toEqual([{ finding: 'F7' }, { finding: 'F7' }]);
  });

  test('that plan documents name the documents of the prompt, each once', () => {
    const entry = { document_key: text, content_to_include: { type: 'object' } };
    const schema = contract({ context_for_documents: listOf(entry) });
    const prompt = '### `case`: The case\n\n- `summary` (string)\n\n### `spec`: The spec';
    const { context_for_documents } = write('thesis/header_context', schema, { prompt });
    const entries = context_for_documents as { document_key: string; content_to_include: object }[];
    expect(entries.map((one) => one.document_key)).toEqual(['case', 'spec']);
    for (const one of entries) expect(Object.values(one.content_to_include)[0]).not.toBe('');
  });
});

test.each([
  ['Chinese', '我们需要一个预约系统。居民可以用手机预约图书。系统必须在十分钟内通知读者。'],
  ['Arabic', 'نحتاج إلى تطبيق لإدارة المواعيد. يجب أن يتمكن المرضى من حجز المواعيد.'],
  ['Thai', 'เราต้องการระบบจองห้องประชุม พนักงานจองผ่านมือถือได้'],
  ['German', 'Wir brauchen ein Buchungssystem. Gäste müssen online zahlen können.'],
])('a brief in %s fills every section with its own words', (_language, brief) => {
  const written = write('thesis/proposal', PROPOSAL, { brief });
  expect(JSON.stringify(written)).toContain(brief.slice(0, 6));
  expect(Object.values(written).every((section) => JSON.stringify(section).length > 8)).toBe(true);
});

test('a request without tags and without a schema still gives a document on its subject', () => {
  const messages = [{ role: 'user' as const, content: BRIEF }];
  const written = writeDocument({ model: 'offline/builder', system: '', messages }, 'builder');
  expect(JSON.parse(written)).toMatchObject({ summary: expect.stringContaining('tool') });
});
