import { DialecticError } from '../../errors/errors.ts';

/** What an id such as `recorded/openai/gpt-5?pace=0` asks for. */
export type RecordedOptions = {
  /** The model that gave the answers. */
  readonly model: string;
  /** Characters a second, where the id says so. */
  readonly pace?: number;
};

/** Reads the part of the id behind `recorded/`. */
export function parseRecordedName(name: string): RecordedOptions {
  const mark = name.indexOf('?');
  const model = mark < 0 ? name : name.slice(0, mark);
  const options = new URLSearchParams(mark < 0 ? '' : name.slice(mark + 1));
  const unknown = [...options.keys()].find((key) => key !== 'pace');
  if (unknown !== undefined) throw refuse(name, `"${unknown}" is no option; known is pace`);
  const pace = options.get('pace');
  return pace === null ? { model } : { model, pace: readPace(pace, (why) => refuse(name, why)) };
}

const MOST = 1_000_000;

/** Characters a second as a person writes them: a number from 0, which means at once. */
export function readPace(text: string, refused: (why: string) => DialecticError): number {
  const pace = Number(text);
  if (/^\d+$/.test(text) && pace <= MOST) return pace;
  throw refused(`pace takes characters a second, from 0 (at once) to ${MOST}, not "${text}"`);
}

const refuse = (name: string, why: string): DialecticError =>
  new DialecticError('model_unknown', `recorded/${name}: ${why}.`, {
    details: { model: `recorded/${name}` },
  });
