/** What follows from the measurements, by the rules below. */
export type AdaptedSettings = {
  /** So many characters of source texts does a process keep in memory. */
  readonly cacheCharacters: number;
  /** So many characters of source texts does a prompt show; beyond that they are shown by level. */
  readonly textCharacters: number;
};

/** The settings of a process that has measured nothing yet; the bounds are on both sides of them. */
export const USUAL_SETTINGS: AdaptedSettings = {
  cacheCharacters: 8_000_000,
  textCharacters: 80_000,
};

const LEAST_CACHE = 2_000_000;
/** 128 MB of memory at two bytes a character. */
const MOST_CACHE = 64_000_000;
const LEAST_TEXTS = 20_000;

/** A decision is made after so many lookups; then they are counted anew. */
const LOOKUPS = 32;
/** Below this share of hits a cache that drops entries is too small. */
const TOO_FEW_HITS = 0.7;
/** After so many rounds in a row without a drop, and with three quarters empty, it is too large. */
const CALM_ROUNDS = 4;

/** A decision on the length of source texts is made after so many prompts that show some. */
const PROMPTS = 16;
/** Where more than this share had to be shortened to fit, prompts show too much of sources. */
const TOO_MANY_SHORTENED = 0.25;
/** After so many rounds in a row in which all fitted, they may show more again. */
const FITTING_ROUNDS = 2;

/**
 * Changes the settings of a process by what it measures: one step at a time, within bounds, and back
 * only after several calm rounds, so that a load at the edge does not make them go to and fro.
 */
export class SettingsAdapter {
  #settings: AdaptedSettings;
  #lookups = { hits: 0, all: 0, dropped: 0 };
  #calm = 0;
  #prompts = { shortened: 0, all: 0 };
  #fitting = 0;
  #isUsual = true;

  constructor(settings: AdaptedSettings = USUAL_SETTINGS) {
    this.#settings = settings;
  }

  get settings(): AdaptedSettings {
    return this.#settings;
  }

  /** Whether they are the usual ones, since nothing has changed them or been taken over. */
  get isUsual(): boolean {
    return this.#isUsual;
  }

  /** Goes on with the settings that an earlier process has come to, within the bounds. */
  resume({ cacheCharacters, textCharacters }: AdaptedSettings): void {
    this.#isUsual = false;
    this.#settings = {
      cacheCharacters: clamp(cacheCharacters, LEAST_CACHE, MOST_CACHE),
      textCharacters: clamp(textCharacters, LEAST_TEXTS, USUAL_SETTINGS.textCharacters),
    };
  }

  /** A lookup in the cache of sources: whether it hit, what it dropped, and how full the cache is. */
  noteLookup(isHit: boolean, dropped: number, usedCharacters: number): void {
    const known = this.#lookups;
    const { hits, all } = { hits: known.hits + (isHit ? 1 : 0), all: known.all + 1 };
    this.#lookups = { hits, all, dropped: known.dropped + dropped };
    if (all < LOOKUPS) return;
    const { cacheCharacters } = this.#settings;
    const isPressed = this.#lookups.dropped > 0;
    this.#calm = isPressed || usedCharacters > cacheCharacters / 4 ? 0 : this.#calm + 1;
    if (isPressed && hits / all < TOO_FEW_HITS) this.#setCache(cacheCharacters * 2);
    else if (this.#calm >= CALM_ROUNDS) {
      this.#setCache(cacheCharacters / 2);
      this.#calm = 0;
    }
    this.#lookups = { hits: 0, all: 0, dropped: 0 };
  }

  /** A prompt that shows source texts: whether parts of it had to be shortened to fit the window. */
  notePrompt(isShortened: boolean): void {
    const known = this.#prompts;
    this.#prompts = { shortened: known.shortened + (isShortened ? 1 : 0), all: known.all + 1 };
    const { shortened, all } = this.#prompts;
    if (all < PROMPTS) return;
    const { textCharacters } = this.#settings;
    this.#fitting = shortened === 0 ? this.#fitting + 1 : 0;
    if (shortened / all > TOO_MANY_SHORTENED) this.#setTexts(textCharacters / 2);
    else if (this.#fitting >= FITTING_ROUNDS) {
      this.#setTexts(textCharacters * 2);
      this.#fitting = 0;
    }
    this.#prompts = { shortened: 0, all: 0 };
  }

  #setCache(characters: number): void {
    this.#isUsual = false;
    const cacheCharacters = clamp(characters, LEAST_CACHE, MOST_CACHE);
    this.#settings = { ...this.#settings, cacheCharacters };
  }

  #setTexts(characters: number): void {
    this.#isUsual = false;
    const textCharacters = clamp(characters, LEAST_TEXTS, USUAL_SETTINGS.textCharacters);
    this.#settings = { ...this.#settings, textCharacters };
  }
}

const clamp = (value: number, least: number, most: number): number =>
  Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : most;

/** The settings of this process. */
export const adapter = new SettingsAdapter();
