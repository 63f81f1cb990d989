import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROLES } from '../../src/eval/rubric.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { type Answer, type Asked, startScriptedServer } from '../generation/scripted-server.ts';
import { GOOD_CHECKLIST, GOOD_FRAME, workPlan } from '../generation/work-plan.ts';
import { type Ended, ownConfiguration, runDialectic, spawnDialectic } from '../run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';
import { choice, draftFiles, faults, labelOf, roleOf, verdict } from './verdicts.ts';

export const BRIEF = 'A web shop for a bakery, within 900 euros.';
export const OTHER_BRIEF = 'A lending desk for a library, by the first of May.';
/** Only the debate's documents hold the first of these, only drafts the second, rewrites the third. */
export const DEBATE = GOOD_CHECKLIST.nodes[0]!.work;
export const SINGLE = 'One voice';
const MENDED = 'A mended voice';

const NAMES = ['debater', 'writer', 'judge', 'first-is-best'];
export const JUDGE = ['--judge', 'compatible/judge'];
export const FOLDERS = ['--debate-folder', 'given/debate', '--single-folder', 'given/single'];
export const WHOLE = ['--debate', 'compatible/debater', '--single', 'compatible/writer'];

export const errorOf = ({ stderr }: Ended): { code: string; message: string } =>
  JSON.parse(stderr.trim().split('\n').at(-1)!).error;

/** All parts: a debate, a writer against it, a judge who looks and one who likes what comes first. */
export function answerWell(asked: Asked): Answer {
  const { deliverable, model, turn } = asked;
  if (deliverable === 'work/frame') return { text: JSON.stringify(GOOD_FRAME) };
  if (deliverable === 'work/checklist') return { text: JSON.stringify(GOOD_CHECKLIST) };
  if (deliverable === 'eval/draft') {
    return { text: JSON.stringify(draftFiles(`${SINGLE} ${String(turn + 1).padStart(3, '0')}`)) };
  }
  if (deliverable === 'eval/faults') return { text: JSON.stringify(faults) };
  if (deliverable === 'eval/rewrite') return { text: JSON.stringify(draftFiles(MENDED)) };
  if (deliverable === 'eval/choice') return { text: JSON.stringify(choice(laterOf(asked))) };
  if (model === 'first-is-best') return { text: JSON.stringify(verdict(9, 5, 'X')) };
  const [debate, rival] = roleOf(asked) === ROLES[0].stance ? [8, 3] : [4, 7];
  const isX = labelOf(asked, DEBATE) === 'X';
  const [x, y] = isX ? [debate, rival] : [rival, debate];
  return { text: JSON.stringify(verdict(x, y, x > y ? 'X' : 'Y')) };
}

/** The label of the draft that was written later. */
function laterOf({ messages }: Asked): 'X' | 'Y' {
  const [x, y] = messages[0]!.content
    .split('<folder label="Y"')
    .map((part) => Number(new RegExp(`${SINGLE} (\\d+)`).exec(part)![1]));
  return x! > y! ? 'X' : 'Y';
}

/** A folder with briefs and a recipe, a database and prices; the verb is run there as a user would. */
export async function settle() {
  const folder = await temporaryFolder();
  const recipe = join(folder, 'recipe');
  const results = [{ stage: 'work', documentKey: 'checklist', folder: null }];
  await writeTextFolder(recipe, processToFiles({ ...workPlan(), results }));
  await writeFile(join(folder, 'brief.md'), BRIEF);
  await writeFile(join(folder, 'library.md'), OTHER_BRIEF);
  // A debate has the money of some drafts.
  const price = (name: string): string =>
    name === 'debater' ? '{ input: 20, output: 40 }' : '{ input: 1, output: 2 }';
  const models = NAMES.map((name) => `  compatible/${name}: { price: ${price(name)} }`);
  const prices = await ownConfiguration(`models:\n${models.join('\n')}\n`);
  const databaseUrl = await emptyDatabase();
  const environment = (url: string) => ({
    DATABASE_URL: databaseUrl,
    DIALECTIC_BASE_URL: url,
    ...prices,
  });

  /** Runs the verb against a server that plays a script. */
  async function evaluate(
    script: (asked: Asked) => Answer,
    parameters: readonly string[],
    briefs: readonly string[] = ['brief.md'],
    consent: readonly string[] = ['--yes'],
  ) {
    const server = await startScriptedServer(script, undefined, NAMES);
    const all = ['eval', ...briefs, '-p', recipe, ...consent, ...parameters];
    try {
      const place = { cwd: folder, env: environment(server.url) };
      return { ...(await runDialectic(all, place)), served: server.served };
    } finally {
      await server.stop();
    }
  }

  /** The same in a process of its own, which is sent a signal when the script says so. */
  async function evaluateUntil(
    script: (asked: Asked, stop: () => void) => Answer,
    parameters: readonly string[],
  ) {
    let stop = (): void => {};
    const server = await startScriptedServer((asked) => script(asked, stop), undefined, NAMES);
    const all = ['eval', 'brief.md', '-p', recipe, '--yes', ...parameters];
    try {
      const { child, ended } = spawnDialectic(all, { cwd: folder, env: environment(server.url) });
      stop = () => child.kill('SIGINT');
      return { ...(await ended), served: server.served };
    } finally {
      await server.stop();
    }
  }

  const writeGiven = async (): Promise<void> => {
    const debate = new Map([
      ['project_readme.md', '# Decide on Monday'],
      ['decide/plan.md', DEBATE],
    ]);
    await writeTextFolder(join(folder, 'given/debate'), debate);
    const files = draftFiles(SINGLE).files.map(({ name, text }) => [name, text] as const);
    await writeTextFolder(join(folder, 'given/single'), new Map(files));
  };
  return { folder, databaseUrl, evaluate, evaluateUntil, writeGiven };
}
