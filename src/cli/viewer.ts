import { spawn } from 'node:child_process';

/** A program that shows a file, with what it is told before the path. */
export type Viewer = { readonly command: string; readonly parameters: readonly string[] };

/** What the choice depends on. */
type Surroundings = {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { readonly isTTY?: boolean };
};

/**
 * The programs to try, the best first: what the person names; the desktop's choice for the kind of
 * file; else a pager in this terminal. None where there is neither a desktop nor a terminal.
 */
export function chooseViewers({ platform, env, stdout }: Surroundings, named?: string): Viewer[] {
  if (named !== undefined) return [parseCommand(named)];
  if (platform === 'darwin') return [parseCommand('open')];
  if (platform === 'win32') return [parseCommand('explorer.exe')];
  const hasDesktop = Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
  return [
    ...(hasDesktop ? [parseCommand('xdg-open')] : []),
    ...(stdout.isTTY ? [parseCommand(env['PAGER'] || 'less')] : []),
  ];
}

function parseCommand(text: string): Viewer {
  const [command = '', ...parameters] = text.trim().split(/\s+/);
  return { command, parameters };
}

/** Shows a file and waits until the program has ended; false where it did not work. */
export function startViewer({ command, parameters }: Viewer, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    spawn(command, [...parameters, path], { stdio: 'inherit' })
      .once('error', () => resolve(false))
      // explorer.exe ends with 1 also when all is well.
      .once('exit', (code) => resolve(code === 0 || process.platform === 'win32'));
  });
}
