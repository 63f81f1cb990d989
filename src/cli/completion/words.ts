import { loadFrom } from '../../catalogue/load-recipe.ts';
import { listDomains, listShippedRecipes } from '../../catalogue/recipe-folders.ts';
import type { ModelsConfig } from '../../models/config.ts';
import { PERSONA_NAMES } from '../../models/offline/personas.ts';
import type { Offer } from './describe-commands.ts';

/** Words that a script holds, so that the shell offers them without starting Node. */
export type Words = Readonly<
  Record<'domains' | 'models' | 'providers' | 'recipes' | 'stages', string[]>
>;

/** Those of the shipped recipes and of the configuration; `openai/` stands for a provider's models. */
export async function readWords({ models, participants, providers }: ModelsConfig): Promise<Words> {
  const recipes = await Promise.all((await listShippedRecipes()).map(loadFrom));
  return {
    domains: await listDomains(),
    models: unique([
      ...(participants ?? []),
      ...Object.keys(models),
      ...Object.keys(providers).map((name) => `${name}/`),
      ...PERSONA_NAMES.map((name) => `offline/${name}`),
    ]),
    providers: unique(Object.keys(providers)),
    recipes: recipes.map(({ name }) => name),
    stages: unique(recipes.flatMap(({ process }) => process.stages.map(({ key }) => key))),
  };
}

const unique = (words: readonly string[]): string[] => [...new Set(words)].toSorted();

/** The words that an offer stands for: none for what the shell itself looks up. */
export function wordsOf(offer: Offer, words: Words): readonly string[] {
  if (offer === null) return [];
  if (typeof offer === 'object') return offer.words;
  if (offer === 'files' || offer === 'directories' || offer === 'sessions') return [];
  return words[offer].filter((word) => PLAIN.test(word));
}

/**
 * Words in which no shell expands anything, wherever it puts them. The id of a model can be any text;
 * one that would have to be quoted is left out. `-` and `@` begin options and the marks of the scripts.
 */
export const PLAIN = /^\w[\w.:/@+-]*$/;

/** A text as one word of bash or zsh. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
