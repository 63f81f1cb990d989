import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DialecticError } from '../errors/errors.ts';

/**
 * Lets a person change a text in the editor of `VISUAL` or `EDITOR`, which may have parameters, else in
 * vi. The file is in a folder that its owner alone can read, and is deleted afterwards.
 */
export async function editText(text: string): Promise<string> {
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-review-'));
  const file = join(folder, 'review.md');
  try {
    await writeFile(file, text, { mode: 0o600 });
    await runEditor(editor, file);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runEditor(editor: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (why: string): void => {
      const message = `The editor ${editor} ${why}. Set EDITOR to one that is there.`;
      reject(new DialecticError('usage_invalid', message));
    };
    // A shell, as for git: the variable may hold parameters, such as `code --wait`.
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' });
    child.once('error', ({ message }) => failed(`could not be started: ${message}`));
    child.once('close', (code) => {
      if (code === 0) resolve();
      else failed(`ended with code ${code}`);
    });
  });
}
