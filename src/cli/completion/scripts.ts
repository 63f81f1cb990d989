import type { CommandEntry, Offer } from './describe-commands.ts';
import { writeFish } from './fish-script.ts';
import { quote, type Words, wordsOf } from './words.ts';

/** The shells that scripts are written for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The completion script of one shell: a table of the commands, and a function that reads it. */
export function writeScript(shell: Shell, entries: readonly CommandEntry[], words: Words): string {
  if (shell === 'fish') return writeFish(entries, words);
  const table = entries.map((entry) => writeCase(entry, words, shell)).join('\n');
  return (shell === 'bash' ? BASH : ZSH).replace('@TABLE@', () => table);
}

/** `@files`, `@sessions`, or words; what an option takes stands behind its flags. */
function writeOffer(offer: Offer, words: Words): string {
  if (offer === 'files' || offer === 'directories' || offer === 'sessions') return `@${offer}`;
  const also = offer === 'recipes' ? ['@directories'] : [];
  return [...wordsOf(offer, words), ...also].join(' ');
}

const list = (items: readonly string[]): string => `(${items.map(quote).join(' ')})`;

function writeCase(entry: CommandEntry, words: Words, shell: 'bash' | 'zsh'): string {
  const { path, commands, options, isRepeated } = entry;
  const described = (name: string, text: string): string =>
    shell === 'bash' ? name : `${name.replaceAll(':', '\\:')}:${text.replaceAll('\n', ' ')}`;
  const valued = options.filter(({ takesValue }) => takesValue);
  const cases = valued.map(
    ({ flags, offer }) => `        ${flags.join('|')}) offer=${quote(writeOffer(offer, words))} ;;`,
  );
  return [
    `    ${quote(path)})`,
    `      verbs=${list(commands.map((one) => described(one.name, one.description)))}`,
    `      flags=${list(
      options.flatMap(({ flags, description }) =>
        flags.map((flag) => described(flag, description)),
      ),
    )}`,
    `      valued=${quote(` ${valued.flatMap(({ flags }) => flags).join(' ')} `)}`,
    `      arguments=${list(entry.arguments.map((offer) => writeOffer(offer, words)))}`,
    `      repeated=${isRepeated ? 1 : 0}`,
    '      case $previous in',
    ...cases,
    '        *) offer= ;;',
    '      esac ;;',
  ].join('\n');
}

/** Both shells walk the line the same way; their arrays count from 0 and from 1. */
const walk = (first: number, end: string): string => `
  at=dialectic position=0 previous= offer=
  _dialectic_entry
  for ((i = ${first}; i < ${end}; i++)); do
    word=\${words_typed[i]}
    if [[ $previous && $valued == *" $previous "* ]]; then previous=; continue; fi
    previous=
    if [[ $word == -* ]]; then previous=$word; continue; fi
    if _dialectic_has "$at $word"; then at="$at $word"; _dialectic_entry
    else position=$((position + 1)); fi
  done
  _dialectic_entry
  if [[ ! $previous || $valued != *" $previous "* ]]; then
    previous= offer=`;

const BASH = `# bash completion for dialectic. In ~/.bashrc: eval "$(dialectic completion bash)"
_dialectic_entry() {
  case $at in
@TABLE@
    *) return 1 ;;
  esac
}
_dialectic_has() {
  local at=$1 previous= verbs flags valued arguments repeated offer
  _dialectic_entry
}
_dialectic_sessions() { dialectic completion --sessions 2>/dev/null; }
_dialectic_offer() { # not compgen -W, which expands its words; bash inserts an offer unquoted
  [[ $1 == *[!A-Za-z0-9_.:/@+-]* || $1 != "$current"* ]] || COMPREPLY+=("$1")
}
_dialectic() {
  local current=\${COMP_WORDS[COMP_CWORD]} at position previous word i offer repeated valued
  local -a words_typed=("\${COMP_WORDS[@]}") verbs flags arguments
  COMPREPLY=()
${walk(1, 'COMP_CWORD')}
    if [[ $current == -* ]]; then
      COMPREPLY=($(compgen -W "\${flags[*]}" -- "$current")); return
    fi
    if ((position == 0 && \${#verbs[@]} > 0)); then
      COMPREPLY=($(compgen -W "\${verbs[*]}" -- "$current"))
    fi
    if ((repeated && position >= \${#arguments[@]})); then position=$((\${#arguments[@]} - 1)); fi
    offer=\${arguments[position]-}
  fi
  for word in $offer; do
    case $word in
      @files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$current")) ;;
      @directories) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$current")) ;;
      @sessions) while IFS= read -r word; do _dialectic_offer "$word"; done < <(_dialectic_sessions) ;;
      *) _dialectic_offer "$word" ;;
    esac
  done
  if [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _dialectic dialectic
`;

const ZSH = `#compdef dialectic
# zsh completion for dialectic. In ~/.zshrc, behind compinit: eval "$(dialectic completion zsh)"
_dialectic_entry() {
  case $at in
@TABLE@
    (*) return 1 ;;
  esac
}
_dialectic_has() {
  local at=$1 previous= valued repeated offer
  local -a verbs flags arguments
  _dialectic_entry
}
_dialectic() {
  local current=\${words[CURRENT]} at position previous word i offer repeated valued
  local -a words_typed=("\${words[@]}") verbs flags arguments
${walk(2, 'CURRENT')}
    if [[ $current == -* ]]; then _describe -o option flags; return; fi
    if ((position == 0 && \${#verbs} > 0)); then _describe command verbs; fi
    if ((repeated && position >= \${#arguments})); then position=$((\${#arguments} - 1)); fi
    offer=\${arguments[position + 1]-}
  fi
  for word in \${=offer}; do
    case $word in
      (@files) _files ;;
      (@directories) _files -/ ;;
      # compadd quotes what it inserts
      (@sessions) compadd -- \${(f)"$(dialectic completion --sessions 2>/dev/null)"} ;;
      (*/) compadd -S '' -- $word ;;
      (*) compadd -- $word ;;
    esac
  done
}
compdef _dialectic dialectic
`;
