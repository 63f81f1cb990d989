import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { startAuthorServer } from '../author-server.ts';
import { runDialectic, spawnDialectic } from '../run-dialectic.ts';
import { emptyDirectory } from '../stores.ts';

const TOKENS_A_TEXT = 7;
const BRIEF = `Should the library open on Sundays? ${'Two staff, 9,000 euros a year. '.repeat(20)}`;

/** Embeds texts by their letters, and keeps them by request. */
async function startEmbedder() {
  const requests: string[][] = [];
  const { url, stop } = await startServer((_request, response, body) => {
    const { input } = JSON.parse(body) as { input: string[] };
    requests.push(input);
    const data = input.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: 16 }, (_, at) => (text.charCodeAt(at * 3) || 1) % 17),
    }));
    const usage = { prompt_tokens: TOKENS_A_TEXT * input.length, total_tokens: 0 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', model: 'embed', data, usage }));
  });
  return { url, stop, requests };
}

test('a process killed between compression and answer is charged once, and the next run not at all', async () => {
  const embedder = await startEmbedder();
  let onChat = (): void => {};
  const author = await startAuthorServer(['a', 'b'], () => onChat(), { usage: false });
  const folder = await emptyDirectory();
  await mkdir(join(folder, 'dialectic'), { recursive: true });
  const model = '{ windowTokens: 5300, maxOutputTokens: 2000, price: { input: 1, output: 1 } }';
  const lines = [
    `providers: { lab: { kind: compatible, baseUrl: '${embedder.url}', apiKey: key } }`,
    'embeddings: lab/embed',
    'models:',
    '  lab/embed: { price: { input: 2, output: 0 } }',
    ...['a', 'b'].map((name) => `  compatible/${name}: ${model}`),
  ];
  await writeFile(join(folder, 'dialectic', 'dialectic.config.yaml'), lines.join('\n'));
  await writeFile(join(folder, 'brief.md'), BRIEF);
  const env = { XDG_CONFIG_HOME: folder, DIALECTIC_BASE_URL: author.url };
  const place = { cwd: folder, env };
  const data = ['--data', join(folder, 'data'), '--json'];
  const who = ['-m', 'compatible/a', '-m', 'compatible/b', '-p', 'decision-memo', '--yes'];
  const run = ['run', 'brief.md', ...who, ...data];
  const json = async (...parameters: string[]) => {
    const { code, stdout, stderr } = await runDialectic([...parameters, ...data], place);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  const { child, ended } = spawnDialectic([...run, '--out', 'first'], place);
  onChat = () => {
    if (embedder.requests.length > 0) child.kill('SIGKILL');
  };
  expect((await ended).code).toBe(null);
  const before = embedder.requests.flat();
  expect(before.length).toBeGreaterThan(10);
  onChat = () => {};
  const first = await json('resume');
  expect(first.status).toBe('completed');

  const texts = embedder.requests.flat();
  expect(new Set(texts).size).toBe(texts.length);
  const tokens = TOKENS_A_TEXT * texts.length;
  const report = await json('wallet', 'report', first.session);
  expect(report.compression).toMatchObject({ calls: embedder.requests.length, tokens });

  const again = await runDialectic([...run, '--out', 'second'], place);
  const second = JSON.parse(again.stdout);
  expect(second.status).toBe('completed');
  expect(embedder.requests.flat()).toHaveLength(texts.length);
  const none = await json('wallet', 'report', second.session);
  expect(none.compression).toMatchObject({ calls: 0, tokens: 0 });
  await Promise.all([embedder.stop(), author.stop()]);
});
