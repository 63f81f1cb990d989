import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';

const host = z.string().regex(/^[\w.:[\]-]+$/, 'a host, or a host and its port');

/** The section `sources` of a configuration file, with unit and meaning for `dialectic config`. */
export const sourcesSection = z.strictObject({
  allowPrivate: z
    .array(host)
    .optional()
    .meta({ unit: 'hosts', description: 'of your own network, whose pages may be fetched' }),
  mergeAt: z.number().min(0.5).max(1).optional().meta({
    unit: 'share',
    description:
      'of equal runs of three words that makes two sources one; default 1, the same text',
  }),
  search: z.enum(['folder', 'searxng', 'brave', 'tavily']).optional().meta({
    unit: '',
    description: 'what is searched: folder (the default), searxng, brave or tavily',
  }),
  searchUrl: z
    .string()
    .min(1)
    .optional()
    .meta({ unit: 'address', description: 'where the search is; SearXNG needs it' }),
  searchKeyEnv: z
    .string()
    .regex(/^[A-Za-z_]\w*$/)
    .optional()
    .meta({ unit: 'variable', description: 'where the key of the search is read' }),
});

/** The section `sources` of a configuration file. */
export type SourcesFile = { readonly sources?: z.input<typeof sourcesSection> | undefined };

/** What a configuration says about getting sources. */
export type SourcesSettings = z.infer<typeof sourcesSection>;

/** The search services that take a key, with the variables from which it is read. */
export const SEARCH_KEYS: Readonly<Record<string, readonly string[]>> = {
  brave: ['BRAVE_API_KEY', 'BRAVE_SEARCH_API_KEY'],
  tavily: ['TAVILY_API_KEY'],
};

/** Whether a name is one of a search service, and none of a provider of models. */
export const isSearchService = (name: string): boolean => Object.hasOwn(SEARCH_KEYS, name);

/** The section `sources` of a parsed configuration file, or what is wrong with it. */
export function readSourcesSettings(file: unknown): SourcesSettings {
  const parsed = z.object({ sources: sourcesSection.prefault({}) }).safeParse(file ?? {});
  if (parsed.success) return parsed.data.sources;
  const problem = z.prettifyError(parsed.error);
  throw new DialecticError('usage_invalid', `The configuration is not valid. ${problem}`);
}
