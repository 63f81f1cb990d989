import { expect, test } from 'vitest';
import { type Dialectic, openDialectic } from '../../src/index.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { startAuthorServer } from '../author-server.ts';
import { emptyDirectory } from '../stores.ts';

const brief = 'Should the library open on Sundays? It has two staff and 9,000 euros a year.';
const PRICE = { price: { input: 1, output: 1 } };
const TOKENS_A_TEXT = 7;

/** An embedding model on loopback that keeps what it was sent. */
async function startEmbedder() {
  const texts: string[] = [];
  const server = await startServer((_request, response, body) => {
    const { input } = JSON.parse(body) as { input: string[] };
    texts.push(...input);
    const data = input.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: 16 }, (_, at) => (text.charCodeAt(at * 3) || 1) % 17),
    }));
    const usage = { prompt_tokens: TOKENS_A_TEXT * input.length, total_tokens: 0 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', model: 'embed', data, usage }));
  });
  return { ...server, texts };
}

/** Forty documents of three paragraphs each, one of which may be edited. */
const sourcesWith = (edited: string) =>
  Array.from({ length: 40 }, (_, n) => ({
    title: `Report ${n}`,
    excerpts: [
      ['visitors', 'costs', 'staff']
        .map((word) => `Library ${n} reports on ${word} of ${n * 37} a year and ${n + 2} a week.`)
        .concat(n === 7 ? edited : `Library ${n} closes on Mondays since ${1950 + n}.`)
        .map((line) => `## ${line.split(' ')[4]}\n\n${line} ${'It is open to all. '.repeat(4)}`)
        .join('\n\n'),
    ],
  }));

async function run(dialectic: Dialectic, edited: string) {
  const { session } = await dialectic.start({
    brief,
    process: 'decision-memo',
    until: 'clarify',
    models: ['chat/a'],
    sources: sourcesWith(edited),
  });
  for await (const _ of dialectic.work(session));
  const { status } = await dialectic.result(session);
  const { compression } = await dialectic.costs(session);
  return { status, compression };
}

test('a second identical run embeds and pays nothing, and after an edit the next embeds what was edited', async () => {
  const [author, embedder] = [await startAuthorServer(['a']), await startEmbedder()];
  await using dialectic = await openDialectic({
    dataDirectory: await emptyDirectory(),
    environment: {},
    backupEveryMs: 0,
    configuration: {
      providers: {
        chat: { kind: 'compatible', baseUrl: author.url, apiKey: 'key' },
        lab: { kind: 'compatible', baseUrl: embedder.url, apiKey: 'key' },
      },
      embeddings: 'lab/embed',
      models: {
        'lab/embed': { price: { input: 2, output: 0 } },
        'chat/a': { windowTokens: 6_000, maxOutputTokens: 2_000, ...PRICE },
      },
    },
  });
  const first = await run(dialectic, 'Library 7 closes never.');
  expect(first.status).toBe('awaiting_review');
  const all = [...embedder.texts];
  expect(all.length).toBeGreaterThan(80);
  expect(new Set(all).size).toBe(all.length);
  expect(first.compression).toMatchObject({ tokens: TOKENS_A_TEXT * all.length });

  const again = await run(dialectic, 'Library 7 closes never.');
  expect(again).toMatchObject({ status: 'awaiting_review', compression: { calls: 0, tokens: 0 } });
  expect(embedder.texts).toEqual(all);

  const edited = await run(dialectic, 'Library 7 closes at noon on Fridays.');
  expect(edited.status).toBe('awaiting_review');
  const added = embedder.texts.slice(all.length);
  expect(added.some((text) => text.includes('closes at noon'))).toBe(true);
  // The list of questions and the other thirty-nine documents are known.
  for (const text of added) expect(text).toMatch(/Library 7 |noon/);
  await Promise.all([author.stop(), embedder.stop()]);
});
