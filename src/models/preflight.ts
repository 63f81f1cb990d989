import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { elapsedMs } from '../platform/clock.ts';
import { type SendHttp, sendHttp } from '../platform/http.ts';
import { countNoun } from '../text/count-noun.ts';
import { nearestName } from '../text/nearest-name.ts';
import { askProvider } from './ask-provider.ts';
import type { ModelsConfig, ProviderConfig } from './config.ts';
import { isOpenRouter, resolveEndpoint } from './endpoint.ts';
import { secretsHider } from './hide-secrets.ts';
import { askOffered } from './list-models.ts';
import { parseModelId } from './model-id.ts';
import { costMicros, findPrice } from './prices.ts';
import { requireModels, requireProvider } from './require-models.ts';
import type { ModelProvider } from './types.ts';

/** What a model answered when it was asked whether a run can use it. */
export type ModelCheck = {
  readonly model: string;
  /** What the question cost in dollars; null where a call was made and its price is unknown. */
  readonly costUsd: number | null;
  /** Why it is not sure that the model can be used; null where it is. */
  readonly doubt: string | null;
  /** The id of the call in the ledger; absent where none was made, or none was posted. */
  readonly call?: string;
};

/** How the questions are sent, how long a list may take, and how long list and call together. */
type Asking = {
  readonly send: SendHttp;
  readonly listMs: number;
  readonly allMs: number;
  /** What `preflightLists` was offered a moment ago: these providers are not asked again. */
  readonly offers: Offers;
};

/** The names that each provider's list has, by provider; none where it sent no list. */
export type Offers = Readonly<Record<string, readonly string[]>>;

/**
 * A person hears within five seconds of a command's start that a server is away: the program needs
 * about one of them to start. A provider that is up sends its list in well under a second.
 */
const ASKING: Asking = { send: sendHttp, listMs: 2_500, allMs: 3_500, offers: {} };
/** The least that OpenAI accepts as a limit. */
const CALL_TOKENS = 16;

/**
 * Asks each distinct model once, all at the same time, whether a run can use it, and throws for
 * those that cannot be. The provider's list of models is free and decides where it names the
 * model; else a call of a few tokens does, once no list has refused another model of the run.
 * Offline and recorded models are not asked. `provider` has the calls paid: the price is due.
 */
export async function preflightModels(
  models: readonly string[],
  config: ModelsConfig,
  provider: ModelProvider,
  overrides: Partial<Asking> = {},
): Promise<readonly ModelCheck[]> {
  const asking = { ...ASKING, ...overrides };
  const endMs = elapsedMs() + asking.allMs;
  const asked = await askLists(models, config, asking);
  const outcomes = await Promise.all(
    asked.map(async ({ model, list, isSure }) => {
      const callMs = Math.max(1, Math.round(endMs - elapsedMs()));
      return isSure ? sure(model) : callShortly(model, list.offered, config, { provider, callMs });
    }),
  );
  return refuseProblems(outcomes);
}

/** What the lists of the providers say of the models of a run, which costs nothing. */
export type ListCheck = {
  readonly sure: readonly ModelCheck[];
  /** Those that only a call can decide. */
  readonly unsure: readonly string[];
  /** Of the providers of the unsure ones. */
  readonly offers: Offers;
};

/** The part of `preflightModels` that costs nothing; throws for the models that a list refuses. */
export async function preflightLists(
  models: readonly string[],
  config: ModelsConfig,
  overrides: Partial<Asking> = {},
): Promise<ListCheck> {
  const asked = await askLists(models, config, { ...ASKING, ...overrides });
  const unsure = asked.filter(({ isSure }) => !isSure);
  return {
    sure: asked.filter(({ isSure }) => isSure).map(({ model }) => sure(model)),
    unsure: unsure.map(({ model }) => model),
    offers: Object.fromEntries(
      unsure.map(({ model, list }) => [parseModelId(model).provider, list.offered]),
    ),
  };
}

const sure = (model: string): ModelCheck => ({ model, costUsd: 0, doubt: null });

type Listed = { readonly model: string; readonly list: List; readonly isSure: boolean };

async function askLists(
  models: readonly string[],
  config: ModelsConfig,
  asking: Asking,
): Promise<readonly Listed[]> {
  const asked = [...new Set(models)].filter((model) => !isOwn(model));
  requireModels(asked, config);
  const providers = new Set(asked.map((model) => parseModelId(model).provider));
  const lists = new Map([...providers].map((name) => [name, findList(name, config, asking)]));
  const outcomes = await Promise.all(
    asked.map(async (model): Promise<Listed | DialecticError> => {
      const { provider, name } = parseModelId(model);
      const list = (await lists.get(provider)) ?? { offered: [], isWhole: false };
      if (list.problem) return nameModel(model, list.problem);
      const { offered, isWhole } = list;
      // Ollama lists `llama3:latest` for what is called as `llama3`.
      const isListed = offered.includes(name) || offered.includes(`${name}:latest`);
      return { model, list, isSure: isListed && isWhole };
    }),
  );
  return refuseProblems(outcomes);
}

/** The outcomes where none is a problem; else one error that names all that are. */
function refuseProblems<T>(outcomes: readonly (T | DialecticError)[]): T[] {
  const problems = outcomes.filter((outcome) => outcome instanceof DialecticError);
  if (problems.length > 0) throw joinProblems(problems);
  return outcomes.flatMap((outcome) => (outcome instanceof DialecticError ? [] : [outcome]));
}

const isOwn = (model: string): boolean =>
  ['offline', 'recorded'].includes(parseModelId(model).provider);

/** A provider's list; `isWhole` is false where it does not prove that the key is right. */
type List = {
  readonly offered: readonly string[];
  readonly isWhole: boolean;
  readonly problem?: DialecticError;
};

/** Faults after which a call would bring nothing but the same fault. */
const FINAL: ReadonlySet<string> = new Set(['provider_unreachable', 'provider_timeout']);

/** A list that was fetched before did not decide then: it does not now. */
function findList(name: string, config: ModelsConfig, asking: Asking): List | Promise<List> {
  const { offers } = asking;
  const offered = Object.hasOwn(offers, name) ? offers[name] : undefined;
  return offered === undefined ? askList(name, config, asking) : { offered, isWhole: false };
}

async function askList(name: string, config: ModelsConfig, asking: Asking): Promise<List> {
  const provider = requireProvider({ provider: name, name: '' }, config);
  const { send, listMs: timeoutMs } = asking;
  try {
    const [offered] = await Promise.all([
      askOffered(name, provider, timeoutMs, send),
      isOpenRouter(provider) && askProvider(name, provider, { path: '/key', timeoutMs, send }),
    ]);
    return { offered: offered.map((one) => one.name), isWhole: provesKey(provider) };
  } catch (thrown) {
    const problem = toDialecticError(thrown);
    const isFinal = FINAL.has(problem.code) || problem.details['status'] === 401;
    return { offered: [], isWhole: false, ...(isFinal && { problem }) };
  }
}

/** llama.cpp and others send their list to whoever asks: it says nothing about the key. */
const provesKey = (provider: ProviderConfig): boolean =>
  provider.kind !== 'compatible' || provider.apiKey === undefined || isOpenRouter(provider);

/** Who makes and pays a short call, and what is left of the time once the list has come. */
type CallAsking = { readonly provider: ModelProvider; readonly callMs: number };

/** Faults of the own wallet and budgets: the model was not asked. */
const UNPAID: ReadonlySet<string> = new Set(['funds_short', 'funds_busy', 'price_unknown']);

/** Buys a few tokens of a model; what a provider refuses costs nothing. */
async function callShortly(
  model: string,
  offered: readonly string[],
  config: ModelsConfig,
  { provider, callMs }: CallAsking,
): Promise<ModelCheck | DialecticError> {
  const deadline = AbortSignal.timeout(callMs);
  try {
    const { usage } = await provider.generate(
      {
        model,
        system: 'You are asked whether you can be reached.',
        messages: [{ role: 'user', content: 'Answer with the word yes.' }],
        maxOutputTokens: CALL_TOKENS,
      },
      { signal: deadline },
    );
    const price = await findPrice(model, config);
    return { model, costUsd: price && costMicros(usage, price) / 1e6, doubt: null };
  } catch (thrown) {
    const problem = toDialecticError(thrown);
    if (UNPAID.has(problem.code)) {
      const { why } = problem.details;
      const reason =
        typeof why === 'string'
          ? `, which may cost ${why}`
          : ` (${problem.message.replace(/\.$/, '')})`;
      return { model, costUsd: 0, doubt: `was not asked by a paid call${reason}` };
    }
    if (deadline.aborted) {
      const doubt = `gave no answer to a short call within ${(callMs / 1000).toFixed(1)} s`;
      return { model, costUsd: null, doubt };
    }
    return judge(model, problem, offered, config);
  }
}

const NAMES_MODEL = /\bmodel\b/i;

/**
 * Whether a refused short call refuses the run. A limit of rate passes, and a request that is
 * refused for anything but its model may only be too short.
 */
function judge(
  model: string,
  problem: DialecticError,
  offered: readonly string[],
  config: ModelsConfig,
): ModelCheck | DialecticError {
  const { code, message } = problem;
  const isUnclear = code === 'provider_request_refused' && !NAMES_MODEL.test(message);
  if (code === 'provider_rate_limited' || isUnclear) {
    return { model, costUsd: 0, doubt: `refused a short call: ${message}` };
  }
  if (code !== 'model_unknown' && code !== 'provider_request_refused') {
    return nameModel(model, problem);
  }
  const { provider, name } = parseModelId(model);
  const own = requireProvider({ provider, name }, config);
  const address = secretsHider(own)(resolveEndpoint(provider, own).baseUrl);
  const nearest = nearestName(name, offered) ?? offered[0];
  const offers = nearest === undefined ? '' : ` It offers ${provider}/${nearest}`;
  const others = offered.length > 1 ? ` and ${countNoun(offered.length - 1, 'other')}.` : '.';
  return new DialecticError(
    'model_unknown',
    `${provider} has no model "${name}" at ${address} (${message}).${offers && offers + others}`,
    { details: { model, known: offered.slice(0, 50) } },
  );
}

/** Nothing is tried again by itself here, as the advice for the codes of a running call has it. */
function nameModel(model: string, { code, message, details }: DialecticError): DialecticError {
  const isLater = code === 'provider_unavailable';
  const told = `${model}: ${message}${isLater ? ' Try later, or name another model with -m.' : ''}`;
  const named = code === 'provider_timeout' ? 'provider_unreachable' : code;
  return new DialecticError(named, told, { details: { ...details, model } });
}

/** One error that names every model which cannot be used. */
function joinProblems(problems: readonly DialecticError[]): DialecticError {
  const [first] = problems;
  const said = problems.map(({ message }) => message);
  return new DialecticError(
    first?.code ?? 'provider_unreachable',
    `${said.join(' ')} Nothing was started; --no-preflight starts without asking.`,
    {
      // A person has to act: a run that has not begun is not tried again by itself.
      retryable: false,
      details: { ...first?.details, problems: problems.map((one) => one.toJSON()) },
    },
  );
}

/** What a provider says about its key. */
export type KeyTest = { readonly said: string; readonly problem: DialecticError | null };

/** Asks a provider whether it accepts its key, which costs nothing. */
export async function testKey(
  name: string,
  config: ModelsConfig,
  overrides: Partial<Asking> = {},
): Promise<KeyTest> {
  const { send, listMs: timeoutMs } = { ...ASKING, ...overrides };
  const provider = requireProvider({ provider: name, name: '' }, config);
  try {
    if (isOpenRouter(provider)) {
      await askProvider(name, provider, { path: '/key', timeoutMs, send });
      return { said: `${name} accepts the key`, problem: null };
    }
    const { length } = await askOffered(name, provider, timeoutMs, send);
    const accepted = provesKey(provider)
      ? `accepts the key and offers ${countNoun(length, 'model')}`
      : `answers with ${countNoun(length, 'model')}; whether it looks at the key shows with the first call`;
    return { said: `${name} ${accepted}`, problem: null };
  } catch (thrown) {
    return { said: '', problem: toDialecticError(thrown) };
  }
}
