import { Command } from 'commander';
import { DialecticError } from '../errors/errors.ts';
import { isSearchService } from '../gather/sources-settings.ts';
import { checkKey } from '../models/check-credentials.ts';
import { testKey } from '../models/preflight.ts';
import { requireProvider } from '../models/require-models.ts';
import { quoteWord } from '../text/quote-word.ts';
import { findTerminal } from './ask-questions.ts';
import { askSecret } from './ask-secret.ts';
import { readConfiguration } from './configuration.ts';
import { exitWith } from './exit-with.ts';
import { describeKey, findKeys, type KnownKey, showEnd } from './find-keys.ts';
import { withExample } from './help-text.ts';
import { keyStorePath, removeKey, storeKey } from './key-store.ts';
import { printResult } from './output.ts';

type Options = { readonly json?: boolean };

/** `dialectic keys`: stores, lists, tests and removes the keys of providers. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('store, list, test and remove keys of providers');
  const setting = keys
    .command('set')
    .description('store a key, from standard input or typed without being shown')
    .argument(
      '<provider>',
      'openai, anthropic, google, openrouter, brave, tavily or one of the configuration',
    )
    // Commander would repeat a key that stands behind the provider.
    .allowExcessArguments()
    .action(set);
  keys
    .command('list', { isDefault: true })
    .description('list which providers have a key, and from where')
    .action(list);
  keys
    .command('test')
    .description('ask providers whether they accept their keys, which costs nothing')
    .argument('[provider]', 'only this one')
    .action(test);
  const removing = keys
    .command('remove')
    .description('remove a stored key')
    .argument('<provider>', 'whose key')
    .action(remove);
  withExample(setting, 'dialectic keys set openai');
  withExample(removing, 'dialectic keys remove openai');
  for (const command of keys.commands) command.option('--json', 'print the result as JSON');
  return keys;
}

async function set(provider: string, options: Options, command: Command): Promise<void> {
  if (command.args.length > 1) {
    const message =
      'A key on the command line stays in the history of the shell, and is not taken. ' +
      `Type it when asked, or: dialectic keys set ${quoteWord(provider)} < FILE`;
    throw new DialecticError('usage_invalid', message);
  }
  if (!isSearchService(provider)) requireProvider({ provider, name: '' }, readConfiguration());
  const key = await askSecret(`Key of ${provider} (it is not shown): `, findTerminal({}));
  if (key === '') {
    const message = `No key came. Type it when asked, or: dialectic keys set ${quoteWord(provider)} < FILE`;
    throw new DialecticError('usage_invalid', message);
  }
  checkKey(`The key of ${provider}`, key);
  await storeKey(provider, key);
  const end = showEnd(key) ?? '';
  const winner = findKeys().find((one) => one.provider === provider);
  const isHidden = winner !== undefined && winner.from !== keyStorePath();
  printResult(options.json === true, { provider, path: keyStorePath() }, [
    `Stored the key of ${provider}${end && ` (${end})`} in ${keyStorePath()}, which only you can read.`,
    ...(isHidden ? [`${winner.from} is set too, and wins over it.`] : []),
    ...(isSearchService(provider)
      ? []
      : [`Try it with: dialectic keys test ${quoteWord(provider)}`]),
  ]);
}

function list({ json }: Options): void {
  const keys = findKeys();
  const lines = keys.map(({ provider, end, from }) => `${provider}: ${describeKey({ end, from })}`);
  const none =
    'No provider has a key. Store one with: dialectic keys set PROVIDER (openai, anthropic, google, openrouter)';
  printResult(json === true, { path: keyStorePath(), keys }, lines.length > 0 ? lines : [none]);
}

async function test(provider: string | undefined, options: Options): Promise<void> {
  const config = readConfiguration();
  if (provider !== undefined && isSearchService(provider)) {
    const message = `A key of ${provider} can only be tried by a search, which it counts.`;
    throw new DialecticError('usage_invalid', message);
  }
  if (provider !== undefined) requireProvider({ provider, name: '' }, config);
  const keys = findKeys().filter(({ provider: name }) =>
    provider === undefined ? !isSearchService(name) : name === provider,
  );
  if (keys.length === 0) throw noKey(provider);
  const tested = await Promise.all(
    keys.map(async (key) => ({ ...key, ...(await testKey(key.provider, config)) })),
  );
  const ok = tested.every(({ problem }) => problem === null);
  const tell = ({ problem, said, from, end }: (typeof tested)[number]): string =>
    problem === null
      ? `ok   ${said} (${describeKey({ end, from })})`
      : `BAD  ${problem.message} (${describeKey({ end, from })}) ${problem.action}`;
  printResult(options.json === true, { ok, keys: tested }, tested.map(tell));
  if (!ok) exitWith(6);
}

async function remove(provider: string, options: Options): Promise<void> {
  const removed = await removeKey(provider);
  const left: KnownKey | undefined = findKeys().find((one) => one.provider === provider);
  printResult(options.json === true, { provider, removed }, [
    removed ? `Removed the key of ${provider}.` : `There was no stored key of ${provider}.`,
    ...(left ? [`${left.from} still gives it one.`] : []),
  ]);
}

function noKey(provider: string | undefined): DialecticError {
  const whose = provider === undefined ? 'any provider' : provider;
  const advice = `dialectic keys set ${quoteWord(provider ?? 'PROVIDER')}`;
  const message = `There is no key of ${whose}. Store one with: ${advice}`;
  return new DialecticError('provider_not_configured', message);
}
