import { SourceRegistry } from '../../src/sources/registry.ts';

/** Registers sources of its own beside other processes: FOLDER NAME COUNT; prints their ids. */
const [folder = '', name = '', count = '0'] = process.argv.slice(2);
const registry = await SourceRegistry.open(folder);
const drafts = Array.from({ length: Number(count) }, (_, at) => ({
  title: `${name} ${at}`,
  excerpts: [`${name} ${at}`],
}));
const ids: string[] = [];
for (let from = 0; from < drafts.length; from += 50) {
  const made = drafts.slice(from, from + 50).map((draft) => registry.register(draft));
  ids.push(...(await Promise.all(made)).map(({ id }) => id));
}
await registry.close();
process.stdout.write(JSON.stringify(ids));
