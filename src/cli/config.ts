import { Command } from 'commander';
import { DialecticError } from '../errors/errors.ts';
import { findConfiguration, findWishes } from './configuration.ts';
import { printResult } from './output.ts';
import { showConfig } from './show-config.ts';
import { type FoundFile, trust, untrust } from './trusted-files.ts';

type Options = { readonly json?: boolean };

/** `dialectic config`: shows the configuration, and says which files may use keys and variables. */
export function configCommand(): Command {
  const config = new Command('config').description('show the configuration, or trust a file of it');
  config
    .command('show', { isDefault: true })
    .description('show where the files are, what is in force and every field')
    .action((options: Options) => showConfig(options.json === true));
  config
    .command('trust')
    .description('let the configuration of a folder set every field, as long as it stays as it is')
    .argument('[file]', 'the file (default: dialectic.config.* in this folder)')
    .action(async (name: string | undefined, options: Options) => {
      const file = requireFile(name);
      const wishes = findWishes(file);
      await trust(file);
      printResult(options.json === true, { path: file.path, wishes }, [
        `Trusted ${file.path}, until it changes.`,
        ...wishes.map((wish) => `  It ${wish}.`),
      ]);
    });
  config
    .command('untrust')
    .description('take the trust back')
    .argument('[file]', 'the file (default: dialectic.config.* in this folder)')
    .action(async (name: string | undefined, options: Options) => {
      const { path } = requireFile(name);
      const was = await untrust(path);
      const line = was ? `${path} is trusted no longer.` : `${path} was not trusted.`;
      printResult(options.json === true, { path, was }, [line]);
    });
  for (const command of config.commands) {
    command.option('--json', 'print the result as JSON');
  }
  return config;
}

function requireFile(name: string | undefined): FoundFile {
  const file = findConfiguration('.', name);
  if (file) return file;
  const message = 'There is no dialectic.config.yaml, .yml or .json in this folder; name the file.';
  const action = '`dialectic config` shows which files are read.';
  throw new DialecticError('not_found', message, { action });
}
