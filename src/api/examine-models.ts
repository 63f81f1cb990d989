import type { Finding } from '../db/doctor.ts';
import { type ModelsConfig, readModelsConfig } from '../models/config.ts';
import { type ListedProvider, listModels } from '../models/list-models.ts';
import { parseModelId } from '../models/model-id.ts';
import { findPrice } from '../models/prices.ts';
import { findWindow } from '../models/windows.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import type { DialecticOptions } from './open-dialectic.ts';

/**
 * Asks the configured providers, at no cost, and looks up windows and prices of the models that the
 * configuration names. A local server that does not run is a fault only where a participant is to
 * come from it.
 */
export async function examineModels({
  environment = process.env,
  configuration = {},
  folder,
}: Pick<DialecticOptions, 'environment' | 'configuration' | 'folder'> = {}): Promise<
  readonly Finding[]
> {
  const config = readModelsConfig(environment, configuration, folder);
  const { participants = [] } = config;
  const named = [...new Set([...participants, ...Object.keys(config.models)])];
  const needed = new Set(participants.map((model) => parseModelId(model).provider));
  const providers = (await listModels(config)).filter(({ configured }) => configured);
  return [
    ...providers.map((one) => describeProvider(one, config, needed.has(one.provider))),
    describeParticipants(participants),
    ...(await Promise.all(named.map((model) => describeModel(model, config, providers)))),
  ];
}

function describeProvider(
  { provider, problem, models }: ListedProvider,
  config: ModelsConfig,
  isNeeded: boolean,
): Finding {
  const check = `provider ${provider}`;
  if (problem === null) {
    const message = `answers and offers ${countNoun(models.length, 'model')}`;
    return { check, ok: true, message, next: null };
  }
  const own = config.providers[provider];
  if (own?.local && !isNeeded) {
    const message = `does not run at ${own.baseUrl ?? 'its address'}`;
    return { check, ok: true, message, next: 'Start it to use its models.' };
  }
  return { check, ok: false, message: problem.message, next: problem.action };
}

function describeParticipants(participants: readonly string[]): Finding {
  const check = 'participants';
  if (participants.length > 0) {
    return { check, ok: true, message: participants.join(', '), next: null };
  }
  return {
    check,
    ok: true,
    message: 'none in the configuration: a run proposes what can be reached',
    next: 'Name them with -m, or set `participants` in the configuration.',
  };
}

async function describeModel(
  model: string,
  config: ModelsConfig,
  providers: readonly ListedProvider[],
): Promise<Finding> {
  const check = `model ${model}`;
  const { provider, name } = parseModelId(model);
  if (['offline', 'recorded'].includes(provider)) {
    return { check, ok: true, message: 'needs no provider', next: null };
  }
  const listed = providers.find((one) => one.provider === provider);
  const offered = listed?.models.find(({ id }) => id === model);
  const windowTokens =
    (await findWindow(model, config)).windowTokens ?? offered?.windowTokens ?? null;
  const price = await findPrice(model, config);
  const said = [
    windowTokens === null ? 'window unknown' : `a window of ${windowTokens} tokens`,
    price === null
      ? 'price unknown'
      : `$${price.rates.input} in, $${price.rates.output} out for a million tokens`,
  ];
  const steps = [
    ...(listed
      ? []
      : [`Configure ${provider}: dialectic keys set ${quoteWord(provider)}, or its baseUrl.`]),
    ...(windowTokens === null ? [`Set models.${model}.windowTokens in the configuration.`] : []),
    ...(price === null ? [`Set models.${model}.price, or limit tokens with --budget-tokens.`] : []),
  ];
  const next = steps.length === 0 ? null : steps.join(' ');
  return { check, ok: listed !== undefined, message: `${name}: ${said.join(', ')}`, next };
}
