import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process of the test, run from a script in this folder, with what it printed so far. */
export type Script = {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly errors: string[];
  /** Resolves with the exit code, or null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Resolves with the first line for which the test holds, also one that came already. */
  line(matches: (line: string) => boolean): Promise<string>;
};

export function startScript(name: string, ...parameters: string[]): Script {
  const file = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [file, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const errors: string[] = [];
  const waiting = new Set<() => void>();
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
    for (const look of waiting) look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const line = (matches: (line: string) => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      let from = 0;
      const look = (): void => {
        for (; from < lines.length; from++) {
          if (!matches(lines[from]!)) continue;
          waiting.delete(look);
          resolve(lines[from]!);
          return;
        }
      };
      waiting.add(look);
      look();
      void ended.then((code) => reject(new Error(`ended with ${code}: ${errors.join('')}`)));
    });
  return { child, lines, errors, ended, line };
}
