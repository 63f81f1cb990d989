import { withoutControls } from '../text/clean-text.ts';

/** Progress and warnings go to stderr, so that stdout carries results alone. */
export type Log = (message: string) => void;

export const logToStderr: Log = (message) => {
  process.stderr.write(`${withoutControls(message)}\n`);
};
