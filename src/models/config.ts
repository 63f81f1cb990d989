import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';
import { checkBaseUrl, checkHeaders, checkKey } from './check-credentials.ts';
import { MOST_PARTICIPANTS } from './participants.ts';
import type { RecordingConfig } from './recorded/recording.ts';

/** A dollar a token is far above any price, and far below what a sum of amounts may reach. */
const rate = z.number().nonnegative().max(1_000_000);
/** Ten times the largest window that was announced. */
const tokenCount = z.number().int().positive().max(100_000_000);

/** A field with its unit and its meaning, which `dialectic config` shows. */
const about = (unit: string, description: string) => ({ unit, description });
const RATE = 'dollars for a million tokens';

const price = z.strictObject({
  input: rate.meta(about(RATE, 'what its input costs')),
  output: rate.meta(about(RATE, 'what its output costs')),
  cachedInput: rate.optional().meta(about(RATE, 'input from its cache; default: as input')),
  cacheWrite: rate.optional().meta(about(RATE, 'input that fills its cache; default: as input')),
});

const duration = z.number().int().positive().optional();

const timeouts = z.strictObject({
  firstByteMs: duration.meta(about('milliseconds', 'until an answer begins; default 180000')),
  silenceMs: duration.meta(about('milliseconds', 'between two pieces of it; default 180000')),
  totalMs: duration.meta(about('milliseconds', 'until it is whole; default 1800000')),
});

const provider = z.strictObject({
  kind: z
    .enum(['openai', 'anthropic', 'google', 'compatible'])
    .optional()
    .meta(about('', 'the API it speaks: openai, anthropic, google or compatible (the default)')),
  apiKey: z.string().min(1).optional().meta(about('', 'its key; better: dialectic keys set NAME')),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_]\w*$/)
    .optional()
    .meta(about('variable', 'where its key is read')),
  baseUrl: z.string().min(1).optional().meta(about('address', 'where its API is')),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .meta(about('', 'sent with every request to it')),
  concurrency: z
    .number()
    .int()
    .positive()
    .optional()
    .meta(about('calls', 'at a time, over all workers; default 8, for local servers 1')),
  streaming: z
    .boolean()
    .optional()
    .meta(about('', 'whether answers come piece by piece; default true')),
  structuredOutputs: z
    .boolean()
    .optional()
    .meta(about('', 'whether it takes a JSON Schema; default: where its API does')),
  /** Many proxies speak nothing but chat. */
  api: z
    .enum(['responses', 'chat'])
    .optional()
    .meta(about('', 'OpenAI only: responses (the default) or chat')),
  local: z.boolean().optional().meta(about('', 'on this machine: no cost, no key; default false')),
  timeouts: timeouts.optional(),
});

const model = z.strictObject({
  windowTokens: tokenCount.optional().meta(about('tokens', 'its window; default: as catalogued')),
  maxOutputTokens: tokenCount.optional().meta(about('tokens', 'its longest answer')),
  price: price.optional(),
  options: z
    .record(z.string(), z.json())
    .optional()
    .meta(about('', 'passed to the provider as they are, e.g. { reasoningEffort: low }')),
});

/** The sections of a configuration file that are about models. */
export const modelsFile = z.object({
  providers: z.record(z.string().regex(/^[a-z][a-z0-9_-]*$/), provider).optional(),
  models: z.record(z.string(), model).optional(),
  participants: z
    .array(z.string().min(1))
    .min(1)
    .max(MOST_PARTICIPANTS)
    .optional()
    .meta(about('provider/model', 'who debates where a run names nobody')),
  embeddings: z
    .string()
    .min(1)
    .optional()
    .meta(about('provider/model', 'compares parts of long prompts; default: on this machine')),
});

/** The sections `providers`, `models`, `participants` and `embeddings` of a configuration file. */
export type ModelsFile = z.input<typeof modelsFile>;
export type ProviderKind = 'openai' | 'anthropic' | 'google' | 'compatible';
/** USD for a million tokens, which is the same number as micro-USD for one. */
export type PriceOverride = z.infer<typeof price>;
export type ProviderConfig = Omit<z.infer<typeof provider>, 'kind' | 'apiKeyEnv'> & {
  kind: ProviderKind;
  /** Whether the configuration of a folder sets it, so that no key of the user is added. */
  isFolders?: true;
};
export type ModelConfig = z.infer<typeof model>;

/** What the configuration of a folder adds that a single file has no fields for. */
export type FolderPart = {
  /**
   * Providers whose address, kind, key or headers the folder sets: they are the folder's alone, so that
   * no key, address or header of the user reaches a place that the folder chose.
   */
  readonly providers: ReadonlySet<string>;
  /** The same of the search service. */
  readonly search: boolean;
  /** They count where they are higher than the user's own and the catalogue's. */
  readonly prices: Readonly<Record<string, PriceOverride>>;
  /** Whether its prices also stand for models of which no other price is known. */
  readonly isTrusted: boolean;
};

/** A configuration to which no folder adds anything. */
export const NO_FOLDER: FolderPart = {
  providers: new Set(),
  search: false,
  prices: {},
  isTrusted: false,
};

/** Calls to a provider at a time where nothing else is said, in each process. */
export const DEFAULT_CONCURRENCY = 8;

/** Everything that the models room needs to know; nothing in it is read from the environment. */
export type ModelsConfig = {
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly models: Readonly<Record<string, ModelConfig>>;
  /** Who debates where a run names nobody, as `provider/model`. */
  readonly participants?: readonly string[];
  /** The model that compares parts of prompts that are too long; on this machine where absent. */
  readonly embeddings?: string;
  /** Prices of a folder, see FolderPart. */
  readonly folderPrices?: Pick<FolderPart, 'prices' | 'isTrusted'>;
  /** What `recorded/…` answers from. */
  readonly recording?: RecordingConfig;
};

type Preset = ProviderConfig & {
  readonly keyNames: readonly string[];
  readonly urlNames: readonly string[];
};

const local = (baseUrl: string, name: string): Preset => ({
  kind: 'compatible',
  local: true,
  baseUrl,
  concurrency: 1,
  keyNames: [`${name}_API_KEY`],
  urlNames: [`${name}_BASE_URL`],
});

const PRESETS: Readonly<Record<string, Preset>> = {
  openai: { kind: 'openai', keyNames: ['OPENAI_API_KEY'], urlNames: ['OPENAI_BASE_URL'] },
  anthropic: {
    kind: 'anthropic',
    keyNames: ['ANTHROPIC_API_KEY'],
    urlNames: ['ANTHROPIC_BASE_URL'],
  },
  google: {
    kind: 'google',
    keyNames: ['GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    urlNames: ['GOOGLE_BASE_URL'],
  },
  compatible: {
    kind: 'compatible',
    keyNames: ['DIALECTIC_API_KEY'],
    urlNames: ['DIALECTIC_BASE_URL'],
  },
  openrouter: {
    kind: 'compatible',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyNames: ['OPENROUTER_API_KEY'],
    urlNames: ['OPENROUTER_BASE_URL'],
  },
  ollama: local('http://127.0.0.1:11434/v1', 'OLLAMA'),
  llamacpp: local('http://127.0.0.1:8080/v1', 'LLAMACPP'),
  vllm: local('http://127.0.0.1:8000/v1', 'VLLM'),
};

/** The providers that are known by their names alone. */
export const PRESET_NAMES: readonly string[] = Object.keys(PRESETS);

const UNNAMED: Preset = { kind: 'compatible', keyNames: [], urlNames: [] };

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is known of a provider by its name alone. */
export const presetOf = (name: string): Preset =>
  Object.hasOwn(PRESETS, name) ? PRESETS[name]! : UNNAMED;

/** The variables of the hosted providers that have no key yet, one for each. */
export const firstKeyNames = ({ providers }: ModelsConfig): string[] =>
  Object.entries(PRESETS).flatMap(([name, { local: isLocal, kind, baseUrl, keyNames }]) => {
    const isHosted = !isLocal && (kind !== 'compatible' || baseUrl !== undefined);
    return isHosted && providers[name]?.apiKey === undefined ? keyNames.slice(0, 1) : [];
  });

/** Where a provider's key is looked for in the environment; the first that is set wins. */
export const keyVariables = (
  name: string,
  apiKeyEnv: string | undefined,
  folder: Pick<FolderPart, 'providers'> = NO_FOLDER,
): readonly string[] => [
  ...(apiKeyEnv ? [apiKeyEnv] : []),
  ...(folder.providers.has(name) ? [] : presetOf(name).keyNames),
];

/** The same for its address. */
export const urlVariables = (
  name: string,
  folder: Pick<FolderPart, 'providers'> = NO_FOLDER,
): readonly string[] => (folder.providers.has(name) ? [] : presetOf(name).urlNames);

/** The first variable of a list that is set. */
export const firstSet = (
  environment: Environment,
  variables: readonly string[],
): string | undefined => variables.map((variable) => environment[variable]?.trim()).find(Boolean);

/** The providers and models of a configuration file, or what is wrong with them. */
export function parseModelsFile(file: unknown): z.infer<typeof modelsFile> {
  const parsed = modelsFile.safeParse(file ?? {});
  if (parsed.success) return parsed.data;
  throw new DialecticError(
    'usage_invalid',
    `The configuration is not valid. ${z.prettifyError(parsed.error)}`,
  );
}

/**
 * Puts the configuration together: presets, then the parsed `dialectic.config.*`, then the
 * environment, which wins because it is what a person types for one run.
 */
export function readModelsConfig(
  environment: Environment,
  file: unknown = {},
  folder: FolderPart = NO_FOLDER,
): ModelsConfig {
  const parsed = parseModelsFile(file);
  const { providers: fromFile = {}, models = {}, participants, embeddings } = parsed;
  const names = new Set([...Object.keys(PRESETS), ...Object.keys(fromFile)]);
  const providers: Record<string, ProviderConfig> = {};
  for (const name of names) {
    providers[name] = mergeProvider(name, fromFile[name], environment, folder);
  }
  const { prices, isTrusted } = folder;
  return {
    providers,
    models,
    ...(participants ? { participants } : {}),
    ...(embeddings ? { embeddings } : {}),
    ...(Object.keys(prices).length > 0 ? { folderPrices: { prices, isTrusted } } : {}),
  };
}

function mergeProvider(
  name: string,
  fromFile: z.infer<typeof provider> | undefined,
  environment: Environment,
  folder: FolderPart,
): ProviderConfig {
  const { keyNames: _keys, urlNames: _urls, ...preset } = presetOf(name);
  const { apiKeyEnv, ...own } = fromFile ?? {};
  const place = `providers.${name}`;
  const keys = keyVariables(name, apiKeyEnv, folder);
  const apiKey = readFirst(environment, keys, `${place}.apiKey`, own.apiKey, checkKey);
  const url = own.baseUrl ?? preset.baseUrl;
  const urls = urlVariables(name, folder);
  const baseUrl = readFirst(environment, urls, `${place}.baseUrl`, url, checkBaseUrl);
  checkHeaders(`${place}.headers`, own.headers ?? {});
  return {
    ...preset,
    ...own,
    kind: own.kind ?? preset.kind,
    ...(apiKey ? { apiKey } : {}),
    ...(baseUrl ? { baseUrl } : {}),
    ...(folder.providers.has(name) ? { isFolders: true } : {}),
  };
}

/** The first variable that is set, or what the file says; checked under the name of its place. */
function readFirst(
  environment: Environment,
  variables: readonly string[],
  place: string,
  fromFile: string | undefined,
  check: (source: string, value: string) => void,
): string | undefined {
  const variable = variables.find((name) => environment[name]?.trim());
  const value = variable === undefined ? fromFile : environment[variable]!.trim();
  if (value !== undefined) check(variable ?? place, value);
  return value;
}
