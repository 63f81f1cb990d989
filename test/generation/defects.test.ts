import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { newTenant, openTestStore } from '../stores.ts';
import type { Answer, Asked } from './scripted-server.ts';
import { GOOD_CHECKLIST, GOOD_FRAME, type Outcome, playWorkPlan } from './work-plan.ts';

const WHOLE = JSON.stringify(GOOD_CHECKLIST, null, 2);
const GOOD: Answer = { text: WHOLE };
const OTHER = JSON.stringify({
  content: {
    summary: 'The plan in its newest form, which is another document than the one asked for.',
    phases: [{ title: 'Phase A', objectives: ['Find out', 'Decide'] }],
    nodes: [{ title: 'A milestone of the other document' }],
    questions: [],
  },
});

let place: { database: Database; tenantId: string };
beforeAll(async () => {
  const database = await openTestStore('server');
  place = { database, tenantId: (await newTenant(database)).tenantId };
});

const play = (...answers: (Answer | ((asked: Asked) => Answer))[]) => playWorkPlan(place, answers);

/** Goes on behind what the model is told that it has written. */
const goOn = ({ soFar }: Asked): Answer => ({ text: WHOLE.slice(soFar.length) });
const cutAt = (mark: string): Answer => ({
  text: WHOLE.slice(0, WHOLE.indexOf(mark) + mark.length),
  finish: 'length',
});

function expectWhole(outcome: Outcome, requests: number): void {
  expect(outcome.errors).toEqual([]);
  expect(outcome.checklist?.content).toEqual(GOOD_CHECKLIST);
  expect(outcome.asked.length).toBe(requests);
  expect(outcome.status).toBe('completed');
}

function expectNothing(outcome: Outcome, code: string, requests: number): void {
  expect(outcome.errors).toEqual([code]);
  expect(outcome.checklist).toBeUndefined();
  expect(outcome.asked.length).toBe(requests);
  expect(outcome.status).toBe('failed');
}

describe('an answer that names another document in its cursor', () => {
  test('counts as whole where nothing is missing', async () => {
    const cursor = { document_key: 'updated_plan', section_id: 'phases' };
    const control = { continuation_needed: true, stop_reason: 'length', resume_cursor: cursor };
    const text = JSON.stringify({ content: GOOD_CHECKLIST, ...control });
    expectWhole(await play({ text }), 1);
  });

  test('is continued from its own text, and the cursor is never mentioned', async () => {
    const outcome = await play(cutAt('One", "wo'.replace(', "', ',\n      "')), goOn);
    expectWhole(outcome, 2);
    expect(JSON.stringify(outcome.asked[1]!.messages)).not.toContain('updated_plan');
  });
});

describe('a continuation that brings another document', () => {
  test.each([
    ['inside of a string', 'nothing else can'],
    ['between two records', 'without it."\n    },\n    '],
    ['at the beginning of a list', '"nodes": ['],
    ['before a value', '"nodes":'],
  ])('is refused %s', async (_, mark) => {
    expectWhole(await play(cutAt(mark), { text: OTHER }, goOn), 3);
  });

  test('again and again ends with a name, and nothing lands', async () => {
    const outcome = await play(cutAt('nothing else can'), { text: OTHER });
    expectNothing(outcome, 'continuation_exhausted', 4);
  });
});

describe('a chunk that is cut', () => {
  test.each([
    ['inside of a string', 'nothing else can'],
    ['behind a backslash', 'of which the \\'],
    ['inside of a key', '"nod'],
    ['inside of a word with a mark', 'na\u00ef'],
  ])('%s goes on from there', async (_, mark) => {
    const outcome = await play(cutAt(mark), goOn);
    expectWhole(outcome, 2);
    expect(outcome.asked[1]).toMatchObject({ hasSchema: false, soFar: cutAt(mark).text });
  });

  test('by a lost connection goes on from what arrived', async () => {
    expectWhole(await play({ ...cutAt('Show what'), drop: true }, goOn), 2);
  });

  test('in ever new places loses nothing', async () => {
    const step = 97;
    const outcome = await play(({ soFar }) => {
      const text = WHOLE.slice(soFar.length, soFar.length + step);
      return { text, finish: soFar.length + step < WHOLE.length ? 'length' : 'stop' };
    });
    expectWhole(outcome, Math.ceil(WHOLE.length / step));
  });

  test('by a model that adds 20 characters a turn ends by name after five calls', async () => {
    const outcome = await play(({ soFar }) => {
      return { text: WHOLE.slice(soFar.length, soFar.length + 20), finish: 'length' };
    });
    expectNothing(outcome, 'continuation_exhausted', 5);
  });

  test('and is prose without end ends by name after three calls', async () => {
    const outcome = await play(({ turn }) => {
      return { text: `Thought ${turn} about what to build. `.repeat(60), finish: 'length' };
    });
    expectNothing(outcome, 'continuation_exhausted', 3);
  });

  test('and is one section without end ends by name after ten calls', async () => {
    const outcome = await play(({ turn, soFar }) => {
      const begin = soFar === '' ? WHOLE.slice(0, WHOLE.indexOf('nothing else can')) : '';
      const words = `words of turn ${turn} and more of them `.repeat(200);
      return { text: begin + words, finish: 'length' };
    });
    expectNothing(outcome, 'continuation_exhausted', 10);
  });

  test('and is followed by faults again and again ends by name after two requests to write it again', async () => {
    const words = (turn: number) => `words of turn ${turn} `.repeat(6);
    const outcome = await play(({ turn }) => {
      if (turn % 4 === 3) return { text: '."}' };
      return { text: (turn % 4 === 0 ? '{"summary": "' : '') + words(turn), finish: 'length' };
    });
    expectNothing(outcome, 'model_output_invalid', 12);
  });

  test('makes a conversation that only grows, chunk by chunk as they came', async () => {
    const [one, two] = [cutAt('Show what'), cutAt('Let people').text!];
    const next: Answer = { text: two.slice(one.text!.length), finish: 'length' };
    const outcome = await play(one, next, { text: OTHER }, goOn);
    expectWhole(outcome, 4);
    const [first, second, third, fourth] = outcome.asked.map(({ messages }) => messages);
    expect(second!.slice(0, -2)).toEqual(first);
    expect(third!.slice(0, -2)).toEqual(second);
    const answers = third!.filter(({ role }) => role === 'assistant');
    expect(answers.map(({ content }) => content)).toEqual([one.text, next.text]);
    expect(third!.at(-1)).toMatchObject({
      role: 'user',
      content: expect.stringContaining(two.slice(-120)),
    });
    // The refused chunk is not shown, so that the same request is sent again.
    expect(fourth).toEqual(third);
  });

  test.each([
    ['repeats its last words', 60],
    ['starts anew and goes on beyond', Number.POSITIVE_INFINITY],
  ])('and %s is joined once', async (_, back) => {
    const outcome = await play(cutAt('Show what'), ({ soFar }) => ({
      text: WHOLE.slice(Math.max(0, soFar.length - back)),
    }));
    expectWhole(outcome, 2);
  });
});

describe('an answer that is no document', () => {
  test.each([
    ['echoes the header', JSON.stringify(GOOD_FRAME, null, 2)],
    ['echoes the header in a wrapper', JSON.stringify({ content: GOOD_FRAME })],
    ['is empty', ''],
    ['is an empty object', '{}'],
    ['is an empty object in a wrapper', '{"content": {}}'],
    ['is prose', 'I am sorry, I cannot help with that.'],
    ['has empty texts', JSON.stringify({ ...GOOD_CHECKLIST, summary: ' ' })],
    ['is another document', OTHER.replace('"nodes"', '"milestones"')],
  ])('because it %s is asked for again, and never lands', async (_, text) => {
    expectWhole(await play({ text }, GOOD), 2);
    expectNothing(await play({ text }), 'model_output_invalid', 3);
  });

  test('is told what is wrong with it', async () => {
    const { asked } = await play({ text: JSON.stringify({ summary: 'S', questions: [] }) }, GOOD);
    expect(asked[1]!.messages.at(-1)!.content).toContain('`nodes` is missing');
  });
});

describe('an answer in an odd form', () => {
  const { nodes, ...rest } = GOOD_CHECKLIST;
  const twice = JSON.stringify({ ...rest, nodes: nodes.slice(0, 2) }).replace(
    /\}$/,
    `,"nodes":${JSON.stringify(nodes.slice(1))}}`,
  );
  test.each([
    ['without the content wrapper', WHOLE],
    ['in a content wrapper', JSON.stringify({ content: GOOD_CHECKLIST })],
    ['in a wrapper of its own name', JSON.stringify({ checklist: GOOD_CHECKLIST })],
    ['with a key that comes twice', twice],
    ['in a fence', `\`\`\`json\n${WHOLE}\n\`\`\``],
    ['in prose', `Here it is:\n\n${WHOLE}\n\nAnything else?`],
  ])('%s is the document', async (_, text) => {
    expectWhole(await play({ text }), 1);
  });
});

describe('the chunk that a document points to', () => {
  /** The text of the document's contribution, and how many chunks its chain has. */
  const firstChunk = async ({ sessionId }: Outcome) => {
    const [row] = await place.database.asTenant(place.tenantId, (tx) =>
      tx.query<{ text: string; chunks: number }>(
        `select b.body as text,
           (select count(*) from contributions o where o.chain_id = c.chain_id) as chunks
         from documents d join contributions c on c.id = d.contribution_id
         join blobs b on b.tenant_id = c.tenant_id and b.hash = c.blob_hash
         where d.session_id = $1 and d.document_key = 'checklist'`,
        [sessionId],
      ),
    );
    return row;
  };

  test('is the repaired answer, not the one that was refused', async () => {
    const outcome = await play({ text: '{}' }, GOOD);
    expect(await firstChunk(outcome)).toMatchObject({ text: WHOLE, chunks: 2 });
  });

  test('is where the repaired answer begins, if that was cut', async () => {
    const begun = cutAt('Show what');
    const outcome = await play({ text: '{}' }, begun, goOn);
    expect(await firstChunk(outcome)).toMatchObject({ text: begun.text, chunks: 3 });
  });

  test('is the first one of an answer that was continued', async () => {
    const begun = cutAt('Show what');
    expect(await firstChunk(await play(begun, goOn))).toMatchObject({
      text: begun.text,
      chunks: 2,
    });
  });
});

test('a header without its documents is asked for again', async () => {
  const { system_materials } = GOOD_FRAME;
  const texts = [{ system_materials }, GOOD_FRAME].map((content) => JSON.stringify(content));
  const outcome = await playWorkPlan(place, [GOOD], { frame: texts.map((text) => ({ text })) });
  expectWhole(outcome, 1);
  expect(outcome.frame?.content).toEqual(GOOD_FRAME);
});

describe('a document that did not come about', () => {
  test('goes on from what was written when the session is resumed', async () => {
    const other = { text: OTHER };
    const answers = [cutAt('Show what'), other, other, other, goOn];
    const outcome = await playWorkPlan(place, answers, { resumes: 1 });
    expectWhole(outcome, 5);
    expect(outcome.asked[4]!.soFar).toBe(cutAt('Show what').text);
  });

  test('is written anew where what was written is no beginning', async () => {
    const outcome = await playWorkPlan(
      place,
      [{ text: '{}' }, { text: '{}' }, { text: '{}' }, GOOD],
      {
        resumes: 1,
      },
    );
    expectWhole(outcome, 4);
    expect(outcome.asked[3]!.soFar).toBe('');
  });
});

test('an indented template renders headings and texts, not code', async () => {
  const { checklist } = await play(GOOD);
  const [, , body = ''] = checklist!.markdown!.split(/^---$/m);
  expect(body).toMatch(/^# Checklist$/m);
  expect(body).toMatch(/^## Two$/m);
  expect(body).toMatch(/^Show what is fresh\.$/m);
  expect(body).not.toMatch(/^ {4}/m);
});

test('an answer that the provider withholds ends at once, with a name', async () => {
  expectNothing(await play({ text: '{"summary"', finish: 'content_filter' }), 'model_refused', 1);
});

test.each([
  [401, 'provider_auth'],
  [403, 'provider_auth'],
  [402, 'provider_quota_exhausted'],
  [404, 'model_unknown'],
  [413, 'provider_context_exceeded'],
  [422, 'provider_request_refused'],
])('status %i is final: %s after one request', async (status, code) => {
  expectNothing(await play({ status }), code, 1);
});

test.each([429, 500, 503, 529])('status %i is tried again', async (status) => {
  expectWhole(await play({ status }, GOOD), 2);
});

describe('an answer of which a few sections are wrong', () => {
  const { summary, ...rest } = GOOD_CHECKLIST;
  const part = { text: JSON.stringify({ summary }) };

  test('is asked for those alone, and the others stay as they are', async () => {
    const outcome = await play({ text: JSON.stringify(rest) }, part);
    expectWhole(outcome, 2);
    const { messages } = outcome.asked[1]!;
    expect(messages.at(-1)!.content).toContain('with this key alone: summary.');
    expect(messages.at(-2)!.content).toBe(JSON.stringify(rest));
  });

  test('is a document although the part was cut, brought more, or had to be asked for twice', async () => {
    const empty = { text: JSON.stringify({ summary: '' }) };
    expectWhole(await play({ text: JSON.stringify(rest) }, empty, part), 3);
    expectWhole(await play({ text: JSON.stringify(rest) }, GOOD), 2);
    const [head, tail] = [part.text.slice(0, 14), part.text.slice(14)];
    const outcome = await play(
      { text: JSON.stringify(rest) },
      { text: head, finish: 'length' },
      { text: tail },
    );
    expectWhole(outcome, 3);
    expect(outcome.asked[2]!.messages[outcome.asked[2]!.messages.length - 3]!.content).toContain(
      'with this key alone: summary.',
    );
  });

  test('is asked for as a whole where most of it is wrong', async () => {
    const outcome = await play({ text: JSON.stringify({ questions: [] }) }, GOOD);
    expectWhole(outcome, 2);
    expect(outcome.asked[1]!.messages.at(-1)!.content).toContain(
      'Write the whole JSON object again',
    );
  });
});
