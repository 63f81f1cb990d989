import type { Embedder } from '../../src/context/embedder.ts';
import { fitParts } from '../../src/context/fit-parts.ts';
import { Recall } from '../../src/context/recall.ts';
import { rememberWith } from '../../src/context/remember-with.ts';
import type { Place } from './store.ts';

type Fitting = {
  readonly place: Place;
  readonly embedder: Embedder;
  readonly prompt: string;
  readonly documents: readonly string[];
  readonly room: number;
  readonly count: (text: string) => number;
};

/** Fits documents into a room as the step `fit` of a job does, all of them equally relevant. */
export async function fitDocuments(fitting: Fitting): Promise<string[]> {
  const { place, embedder, prompt, documents, room, count } = fitting;
  const remember = rememberWith(place, embedder);
  const given = { ...place, sessionId: null, embedder, remember, prompt, count };
  const recall = await Recall.over(given, documents);
  const dealt = recall.deal(room * 0.98);
  const texts = new Map(documents.map((text, at) => [String(at), text]));
  const parts = [...texts].map(([id, text]) => ({
    id,
    tokens: count(text),
    value: recall.valueOf(text),
    wanted: dealt.get(text) ?? 0,
  }));
  await fitParts({
    parts,
    total: parts.reduce((sum, { tokens }) => sum + tokens, 0),
    room,
    shorten: async ({ id }, most) => {
      const short = await recall.shorten(texts.get(id) ?? '', most);
      texts.set(id, short);
      return count(short);
    },
  });
  await recall.save();
  return [...texts.values()];
}
