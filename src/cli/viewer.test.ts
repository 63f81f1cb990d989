import { expect, test } from 'vitest';
import { chooseViewers, startViewer } from './viewer.ts';

const here = (platform: NodeJS.Platform, env: Record<string, string>, isTTY: boolean) => ({
  platform,
  env,
  stdout: { isTTY },
});
const names = (...given: Parameters<typeof chooseViewers>): string[] =>
  chooseViewers(...given).map(({ command }) => command);

test('a desktop comes before a pager, and what the person names before both', () => {
  const desktop = here('linux', { DISPLAY: ':0', PAGER: 'more' }, true);
  expect(names(desktop)).toEqual(['xdg-open', 'more']);
  expect(names(here('linux', { WAYLAND_DISPLAY: 'w' }, false))).toEqual(['xdg-open']);
  expect(names(here('linux', {}, true))).toEqual(['less']);
  expect(names(here('linux', { PAGER: 'less' }, false))).toEqual([]);
  expect(names(here('darwin', {}, true))).toEqual(['open']);
  expect(names(here('win32', {}, true))).toEqual(['explorer.exe']);
  const editor = { command: 'code', parameters: ['--wait'] };
  expect(chooseViewers(desktop, 'code --wait')).toEqual([editor]);
});

test('a program that does not exist, or fails, has not shown the file', async () => {
  const parameters = ['-e', 'process.exitCode = process.argv[1] === "/page" ? 0 : 3'];
  const node = { command: process.execPath, parameters };
  expect(await startViewer(node, '/page')).toBe(true);
  expect(await startViewer(node, '/other')).toBe(false);
  expect(await startViewer({ command: '/no/such/viewer', parameters: [] }, '/page')).toBe(false);
});
