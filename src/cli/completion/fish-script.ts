import type { CommandEntry, Offer } from './describe-commands.ts';
import { PLAIN, type Words, wordsOf } from './words.ts';

/** A text as one word of fish, where a backslash escapes within quotes, too. */
const quote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** fish takes one `complete` line for each command, option and argument, with a condition. */
export function writeFish(entries: readonly CommandEntry[], words: Words): string {
  const lines = entries.flatMap((entry) => {
    const at = `__dialectic_at ${quote(entry.path)}`;
    const verbs = entry.commands.map(
      ({ name, description }) =>
        `complete -c dialectic -n ${quote(`${at} 0`)} -a ${name} -d ${quote(description)}`,
    );
    const options = entry.options.map(({ flags, description, takesValue, offer }) => {
      const named = flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const value = takesValue ? ` -x -a ${quote(fishOffer(offer, words))}` : '';
      const text = quote(description);
      return `complete -c dialectic -n ${quote(at)} ${named.join(' ')}${value} -d ${text}`;
    });
    const last = entry.arguments.length - 1;
    const given = entry.arguments.map((offer, position) => {
      const place = entry.isRepeated && position === last ? `${position}+` : position;
      return `complete -c dialectic -n ${quote(`${at} ${place}`)} -a ${quote(fishOffer(offer, words))}`;
    });
    return [...verbs, ...options, ...given];
  });
  const valued = entries.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags }) => flags.map((flag) => `${path} ${flag}`)),
  );
  const lists = [
    `set -g __dialectic_paths ${entries.map(({ path }) => quote(path)).join(' ')}`,
    `set -g __dialectic_valued ${valued.map(quote).join(' ')}`,
  ];
  return `${FISH}${[...lists, ...lines].join('\n')}\n`;
}

function fishOffer(offer: Offer, words: Words): string {
  if (offer === 'files') return '(__fish_complete_path)';
  if (offer === 'directories') return '(__fish_complete_directories)';
  if (offer === 'sessions') return '(dialectic completion --sessions 2>/dev/null)';
  // fish expands the list of `-a` once more: each word is quoted for itself.
  const known = wordsOf(offer, words)
    .map((word) => (PLAIN.test(word) ? word : quote(word)))
    .join(' ');
  return offer === 'recipes' ? `${known} (__fish_complete_directories)` : known;
}

const FISH = `# fish completion for dialectic. Write it to ~/.config/fish/completions/dialectic.fish
complete -c dialectic -f
function __dialectic_at
    set -l at dialectic
    set -l position 0
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            contains -- "$at $word" $__dialectic_valued; and set skip 1
        else if contains -- "$at $word" $__dialectic_paths
            set at "$at $word"
        else
            set position (math $position + 1)
        end
    end
    test "$at" = "$argv[1]"; or return 1
    switch "$argv[2]"
        case ''
            return 0
        case '*+'
            test $position -ge (string trim -c + -- $argv[2])
        case '*'
            test $position -eq $argv[2]
    end
end
`;
