import { DialecticError } from '../errors/errors.ts';
import type { AnswerOrigin } from './types.ts';

export type ModelId = { readonly provider: string; readonly name: string };

/** Splits `provider/model`; the model part may hold slashes, as OpenRouter's do. */
export function parseModelId(id: string): ModelId {
  const slash = id.indexOf('/');
  const provider = id.slice(0, slash);
  const name = id.slice(slash + 1);
  if (slash < 1 || name.trim() === '' || !/^[a-z][a-z0-9_-]*$/.test(provider)) {
    throw new DialecticError('model_unknown', `"${id}" is not of the form provider/model.`, {
      details: { model: id },
    });
  }
  return { provider, name };
}

/** Whether a model's answers are those of an earlier run, which has paid for them. */
export const isRecorded = (model: string): boolean => parseModelId(model).provider === 'recorded';

/** Who wrote what is left of a call whose process died before it could say so. */
export function originOf(model: string): AnswerOrigin {
  if (isRecorded(model)) return { kind: 'recording', costMicros: 0 };
  return { kind: parseModelId(model).provider === 'offline' ? 'offline' : 'model' };
}
