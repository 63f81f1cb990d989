/** A fenced block of a page. */
export type Block = { readonly language: string; readonly text: string; readonly line: number };

/** The fenced blocks of a Markdown page, in order. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { language: string; lines: string[]; line: number } | null = null;
  for (const [index, line] of page.split('\n').entries()) {
    const fence = /^```(\w*)\s*$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === null) open = { language: fence[1] ?? '', lines: [], line: index + 2 };
    else {
      blocks.push({ language: open.language, text: open.lines.join('\n'), line: open.line });
      open = null;
    }
  }
  return blocks;
}

/** One command of a block and the exit code that its comment announces. */
export type Line = { readonly command: string; readonly exitCode: number };

/** The commands of a `sh` block: comments taken off, broken lines joined. */
export function commandsOf(text: string): Line[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines.flatMap((line) => {
    const [, command = '', comment = ''] = /^(.*?)(\s+#.*|^#.*)?$/.exec(line.trimEnd()) ?? [];
    const exitCode = Number(/exit code (\d)/.exec(comment)?.[1] ?? 0);
    return command.trim() === '' ? [] : [{ command: command.trim(), exitCode }];
  });
}

/** The words of a command as a shell would pass them; null where it needs a shell. */
export function splitWords(command: string): string[] | null {
  const words = command.match(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g) ?? [];
  const bare = words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, ''));
  if (bare.some((word) => /[|<>;&$`*~]/.test(word))) return null;
  return words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}
