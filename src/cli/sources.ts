import { Command, Option } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import type { SourceFormat } from '../api/sources.ts';
import { DialecticError } from '../errors/errors.ts';
import { searchCostMicros } from '../models/search-prices.ts';
import type { Registered } from '../sources/source-index.ts';
import { toUsd } from '../wallet/amounts.ts';
import { checkProject, describeChecks, readDays } from './check-sources.ts';
import { gatherPlaces } from './gather-places.ts';
import { withExample } from './help-text.ts';
import { collect } from './new-run.ts';
import { printExactly, printResult } from './output.ts';
import { findSession } from './sessions.ts';
import { describeSource, describeSources, describeTrace, suggest } from './sources-text.ts';
import { withDialectic } from './store.ts';

type Options = { data?: string; json?: boolean; project?: string; session?: string };
type AddOptions = Options & { search: string[]; most: string };
type Project = { readonly id: string; readonly name: string };

/** `dialectic sources`: what the documents of a project may cite, and who cites it. */
export function sourcesCommand(): Command {
  const sources = new Command('sources').description('add, list, read and trace sources');
  const verb = (name: string, description: string): Command =>
    sources
      .command(name)
      .description(description)
      .option('--project <name>', "the project, by name or id (default: the newest session's)")
      .option('--session <id>', 'a session of the project, by its id or the end of it')
      .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
      .option('--json', 'print the result as JSON');
  withExample(
    verb('add', 'add sources, which the stages that follow may cite')
      .argument('[place...]', 'files, folders or addresses')
      .option('--search <query>', 'only what answers this; repeat for more', collect, [])
      .option('--most <number>', 'the most that one search adds, up to 50', '10')
      .action((places: string[], options: AddOptions) => add(places, options)),
    'dialectic sources add notes/ --project brief',
  );
  verb('list', 'list the sources with their ids').action((options: Options) =>
    inProject(options, async (dialectic, { id, name }) => {
      const found = await dialectic.sources.list(id);
      printResult(options.json === true, found, describeSources(name, found));
    }),
  );
  withExample(
    verb('show', 'show a source, its text and everything that cites it')
      .argument('<source>', 'its id')
      .action((wanted: string, options: Options) =>
        inProject(options, async (dialectic, { id }) => {
          const found = await dialectic.sources.show(id, wanted);
          printResult(options.json === true, found, describeSource(found));
        }),
      ),
    'dialectic sources show S1',
  );
  addCheckVerb(verb);
  addAliasVerbs(verb);
  addTraceVerbs(verb);
  return sources;
}

/** Whether sources still say what was read of them. */
function addCheckVerb(verb: (name: string, description: string) => Command): void {
  verb('check', 'look whether sources are still there and say what was read of them')
    .argument('[source...]', 'their ids (default: all that have an address)')
    .option(
      '--older-than <days>',
      'only those that were last read or checked so many days ago, as in 30d',
    )
    .action((wanted: string[], options: Options & { olderThan?: string }) =>
      inProject(options, async (dialectic, { id }) => {
        const scope = { wanted, ...readDays(options.olderThan) };
        const checks = await checkProject(dialectic.sources, id, scope);
        printResult(options.json === true, checks, describeChecks(checks));
      }),
    );
}

/** From a statement to its evidence, and from the project to a reference manager. */
function addTraceVerbs(verb: (name: string, description: string) => Command): void {
  withExample(
    verb('trace', 'follow a line of a document to what its sources say')
      .argument('<line>', 'a document as `dialectic show` takes it, a colon and the line')
      .action((place: string, options: Options) =>
        withDialectic(options.data, async (dialectic) => {
          const { id } = await findSession(dialectic, options.session);
          const trace = await dialectic.sources.trace(id, place);
          printResult(options.json === true, trace, describeTrace(trace));
        }),
      ),
    'dialectic sources trace decision:12',
  );
  verb('export', 'print the sources for a reference manager')
    .addOption(
      new Option('--format <format>', 'the format')
        .choices(['csl-json', 'bibtex'])
        .default('csl-json'),
    )
    .action((options: Options & { format: SourceFormat }) =>
      inProject(options, async (dialectic, { id }) => {
        const text = await dialectic.sources.export(id, options.format);
        const { format } = options;
        printExactly(options.json === true, { format, text }, [text.trimEnd()]);
      }),
    );
}

/** Two sources that are one, and back. */
function addAliasVerbs(verb: (name: string, description: string) => Command): void {
  withExample(
    verb('merge', 'make a source an alias of another; split takes it back')
      .argument('<source>', 'the one that becomes the alias')
      .argument('<into>', 'the one that stands for both')
      .action((wanted: string, into: string, options: Options) =>
        inProject(options, async (dialectic, { id }) => {
          await dialectic.sources.merge(id, wanted, into);
          const line = `${wanted} is the same as ${into} now. Take it back with: dialectic sources split ${wanted}`;
          printResult(options.json === true, { source: wanted, into }, [line]);
        }),
      ),
    'dialectic sources merge S3 S1',
  );
  withExample(
    verb('split', 'make an alias a source of its own again')
      .argument('<source>', 'its id')
      .action((wanted: string, options: Options) =>
        inProject(options, async (dialectic, { id }) => {
          await dialectic.sources.split(id, wanted);
          const line = `${wanted} is a source of its own again.`;
          printResult(options.json === true, { source: wanted }, [line]);
        }),
      ),
    'dialectic sources split S3',
  );
}

async function add(places: readonly string[], options: AddOptions): Promise<void> {
  if (places.length === 0 && options.search.length === 0) {
    const message = 'Name a file, a folder or an address, or what to search for with --search.';
    throw new DialecticError('usage_invalid', message);
  }
  // Read here: another process may hold the store, with another current folder.
  const most = readMost(options.most);
  const { search: queries } = options;
  const given = queries.length > 0 ? null : await gatherPlaces(places);
  await inProject(options, async (dialectic, { id }) => {
    // A search of the web is paid by the wallet of the store.
    const pay = payWith(dialectic);
    const drafts = given ?? (await gatherPlaces(places, { queries, most, pay }));
    const made = await dialectic.sources.add(id, drafts);
    const lines = made.flatMap((one, at) => describeAdded(one, drafts[at]?.title ?? ''));
    printResult(options.json === true, made, lines);
  });
}

const payWith = (dialectic: Dialectic) => async (service: string, searches: number) => {
  const paid = await dialectic.wallet.paySearches(service, searches);
  const giveBack = async (unanswered: number): Promise<void> => {
    if (!paid) return;
    const usd = toUsd(searchCostMicros(service, unanswered));
    await dialectic.wallet.refund(paid.posting, usd, { note: 'search failed' });
  };
  return { giveBack };
};

function readMost(text: string): number {
  const most = Number(text);
  if (Number.isInteger(most) && most >= 1 && most <= 50) return most;
  throw new DialecticError('usage_invalid', '--most takes a number from 1 to 50.');
}

function describeAdded({ id, isNew, near, alias }: Registered, title: string): string[] {
  const [nearest] = near;
  if (alias !== undefined) {
    const line = `${alias}  ${title} (the same as ${id}; if not: dialectic sources split ${alias})`;
    return [line];
  }
  const line = `${id}  ${title}${isNew ? '' : ' (known)'}`;
  return nearest ? [line, `  ${suggest(id, nearest)}`] : [line];
}

/** Opens the store and finds the project: by name, by a session, or the newest session's. */
const inProject = (
  { data, project, session }: Options,
  work: (dialectic: Dialectic, project: Project) => Promise<void>,
): Promise<void> =>
  withDialectic(data, async (dialectic) => {
    if (project !== undefined) return work(dialectic, await dialectic.project(project));
    const found = await findSession(dialectic, session);
    return work(dialectic, { id: found.projectId, name: found.project });
  });
