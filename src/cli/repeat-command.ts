import type { Command } from 'commander';
import { quoteWord } from '../text/quote-word.ts';

/** The command as it was typed, with more options: what a person can copy into a shell. */
export function repeatCommand(command: Command, more: readonly string[]): string {
  const options = command.options.flatMap((option) => {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    // `--no-result` and `--result` share one value, which only one of them gives.
    if (typeof value === 'boolean') return value === !option.negate ? [option.long ?? ''] : [];
    return [value].flat().flatMap((one) => [option.long ?? '', String(one)]);
  });
  const words = ['dialectic', command.name(), ...command.args, ...options, ...more];
  return words.map(quoteWord).join(' ');
}
