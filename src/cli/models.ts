import { Command } from 'commander';
import { listModels } from '../api/list-models.ts';
import { readConfigurationFiles } from './configuration.ts';
import { printRows } from './output.ts';

/** `dialectic models`: what is configured, reachable, its window and price. */
export function modelsCommand(): Command {
  return new Command('models')
    .description('list providers and models: configured, reachable, window, price')
    .option('--json', 'print the result as JSON')
    .action(async (options: { json?: boolean }) => {
      const { offline, providers } = await listModels(readConfigurationFiles());
      const lines = providers.flatMap((one) => {
        const state = !one.configured
          ? 'not configured'
          : one.reachable
            ? 'reachable'
            : `not reachable: ${one.problem?.message ?? ''}`;
        const models = one.models.map(({ id, windowTokens, price }) => {
          const window = windowTokens === null ? 'window unknown' : `${windowTokens} tokens`;
          return `  ${id} · ${window} · ${price === null ? 'price unknown' : 'price known'}`;
        });
        return [`${one.provider}: ${state}`, ...models];
      });
      lines.unshift('offline: always there, no language model', ...offline.map((id) => `  ${id}`));
      printRows(options.json === true, { offline, providers }, lines);
    });
}
