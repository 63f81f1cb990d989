import { DialecticError } from '../errors/errors.ts';

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
