import { existsSync, readdirSync } from 'node:fs';
import { type Benchmark, installPeers, toJson, toTable, writeSection } from './frame.ts';

const names = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''));
const [name, ...flags] = process.argv.slice(2);

if (!name || !existsSync(new URL(`./${name}.bench.ts`, import.meta.url))) {
  process.stderr.write(
    `usage: npm run bench NAME [-- --write]\nNAME is one of: ${names.join(', ')}\n`,
  );
  process.exit(2);
}
const benchmark = ((await import(`./${name}.bench.ts`)) as { default: Benchmark }).default;
if (benchmark.needsPeers) installPeers();
const result = await benchmark.run(flags);
const table = toTable(result);
if (flags.includes('--write')) writeSection(name, benchmark.title, table);
process.stdout.write(`${benchmark.title}\n\n${table}\n\n${toJson(name, result)}\n`);
process.exit(0);
